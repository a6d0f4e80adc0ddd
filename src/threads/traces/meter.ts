import { Collector, keyValues, nanoseconds, scopeOf, type Destination, type Sender } from "./collector.ts";
import type { Attributes } from "./span.ts";

/** A counter or, with bounds, a histogram. */
export interface Instrument {
  name: string;
  description: string;
  unit: string;
  bounds?: readonly number[];
}

/** A receiver of measurements. */
export interface Meter {
  record: (instrument: Instrument, attributes: Attributes, value: number) => void;
}

interface OtlpMeterOptions extends Sender, Destination {
  /** The interval at which changed figures are sent. */
  everyMs?: number;
}

/** The figures of one instrument with the same attributes. */
interface Series {
  instrument: Instrument;
  attributes: Attributes;
  sum: number;
  count: number;
  min: number;
  max: number;
  buckets: number[];
}

/** The limit of memory: names that a model makes up are attributes, too. */
const MOST_SERIES = 1000;
const REST = { "otel.metric.overflow": true };
/** The protocol's number for figures since the start. */
const CUMULATIVE = 2;

/**
 * Keeps figures since its start, and sends all of them to a collector as OTLP/JSON in every interval with a change. A failed
 * request loses nothing, as the next one has the same figures.
 */
export class OtlpMeter implements Meter {
  readonly #options: OtlpMeterOptions;
  readonly #start = Date.now();
  readonly #series = new Map<string, Series>();
  readonly #collector: Collector;
  #hasChanged = false;

  constructor(options: OtlpMeterOptions) {
    this.#options = options;
    this.#collector = new Collector(options, options.everyMs ?? 60_000, () => this.#sendChanges());
  }

  /** Sends the rest, with a time limit. */
  close(): Promise<void> {
    return this.#collector.close();
  }

  record(instrument: Instrument, attributes: Attributes, value: number): void {
    const series = this.#seriesOf(instrument, attributes);
    series.sum += value;
    series.count += 1;
    series.min = Math.min(series.min, value);
    series.max = Math.max(series.max, value);
    const { bounds = [] } = instrument;
    const bucket = bounds.findIndex((bound) => value <= bound);
    const at = bucket < 0 ? bounds.length : bucket;
    series.buckets[at] = (series.buckets[at] ?? 0) + 1;
    this.#hasChanged = true;
    this.#collector.soon();
  }

  #seriesOf(instrument: Instrument, attributes: Attributes): Series {
    const key = `${instrument.name} ${JSON.stringify(attributes)}`;
    const existing = this.#series.get(key);
    if (existing) return existing;
    if (this.#series.size >= MOST_SERIES && attributes !== REST) return this.#seriesOf(instrument, REST);
    const buckets = Array.from({ length: (instrument.bounds?.length ?? 0) + 1 }, () => 0);
    const fresh = { instrument, attributes, sum: 0, count: 0, min: Infinity, max: -Infinity, buckets };
    this.#series.set(key, fresh);
    return fresh;
  }

  async #sendChanges(): Promise<void> {
    while (this.#hasChanged) {
      this.#hasChanged = false;
      if (await this.#collector.post(this.#body())) continue;
      this.#hasChanged = true;
      return;
    }
  }

  #body(): object {
    const { resource } = this.#options;
    const now = Date.now();
    const all = [...this.#series.values()];
    const metrics = [...new Set(all.map(({ instrument }) => instrument))].map((instrument) => {
      const { bounds, ...about } = instrument;
      const dataPoints = all
        .filter((series) => series.instrument === instrument)
        .map((series) => ({
          attributes: keyValues(series.attributes),
          startTimeUnixNano: nanoseconds(this.#start),
          timeUnixNano: nanoseconds(now),
          ...(bounds ? spreadOf(series, bounds) : { asInt: String(series.sum) }),
        }));
      const data = { dataPoints, aggregationTemporality: CUMULATIVE };
      return { ...about, ...(bounds ? { histogram: data } : { sum: { ...data, isMonotonic: true } }) };
    });
    return {
      resourceMetrics: [
        {
          resource: { attributes: keyValues(resource) },
          scopeMetrics: [{ scope: scopeOf(this.#options), metrics }],
        },
      ],
    };
  }
}

function spreadOf({ count, sum, min, max, buckets }: Series, explicitBounds: readonly number[]): object {
  return { count: String(count), sum, min, max, bucketCounts: buckets.map(String), explicitBounds };
}
