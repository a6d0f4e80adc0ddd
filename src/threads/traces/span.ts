/** An attribute's value. Numbers are integers, except as `fraction`. */
export type Attribute = string | number | boolean | { fraction: number };
export type Attributes = Readonly<Record<string, Attribute | undefined>>;

/** An open span. Calls after its end have no effect. */
export interface Span {
  set: (attributes: Attributes) => void;
  note: (name: string, at: number, attributes?: Attributes) => void;
  fail: (message: string) => void;
  end: (at: number) => void;
}

export interface SpanStart {
  at: number;
  attributes?: Attributes;
  parent?: Span;
  /** Whether it is a call to another service. */
  isCall?: boolean;
}

/** A receiver of spans. */
export interface Tracer {
  start: (name: string, options: SpanStart) => Span;
}

/** The attributes of a model such as `openai:gpt-x`, by the GenAI conventions. */
export function modelNames(model: string): Attributes {
  const [provider, ...name] = model.split(":");
  return { "gen_ai.provider.name": provider, "gen_ai.request.model": name.join(":") || provider };
}
