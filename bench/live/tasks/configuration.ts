import { json, jsonIs, lines, touched, type LiveTask } from "./task.ts";

/** Settings in several files and forms that become one, or others. */
export const CONFIGURATION_TASKS: readonly LiveTask[] = [
  {
    id: "merge-layers",
    kind: "configuration",
    assign: (random) => {
      const port = random.between(3000, 9000);
      const defaults = {
        server: { port, host: "0.0.0.0", timeout: 30 },
        log: { level: "info", targets: ["file", "console"] },
        features: { search: true, export: false },
      };
      const stages: Record<string, Record<string, object>> = {
        test: { server: { port: port + 1 }, log: { level: "debug", targets: [] } },
        staging: { server: { timeout: random.between(40, 90) }, features: { export: true } },
        production: {
          server: { host: "10.0.0.5" },
          log: { targets: ["syslog"] },
          features: { search: false },
        },
      };
      const overrides: Record<string, [string, string, unknown][]> = {
        test: [["server", "timeout", 5]],
        staging: [["log", "level", "warn"]],
        production: [["server", "port", 80]],
      };
      const merged = (stage: string, { isDeep = true, isEnv = true } = {}) => {
        const result: Record<string, object> = {};
        for (const [name, part] of Object.entries(defaults)) {
          const own = stages[stage]![name] ?? {};
          result[name] = isDeep || Object.keys(own).length === 0 ? { ...part, ...own } : own;
        }
        for (const [part, key, value] of isEnv ? overrides[stage]! : []) {
          result[part] = { ...result[part], [key]: value };
        }
        return result;
      };
      const files = {
        "config/defaults.json": json(defaults),
        ...Object.fromEntries(
          Object.entries(stages).map(([stage, own]) => [`config/${stage}.json`, json(own)]),
        ),
        ...Object.fromEntries(
          Object.entries(overrides).map(([stage, list]) => [
            `config/${stage}.env`,
            lines(
              "# wins over the files",
              ...list.map(
                ([part, key, value]) => `APP_${part.toUpperCase()}_${key.toUpperCase()}=${String(value)}`,
              ),
            ),
          ]),
        ),
      };
      const results = (options?: { isDeep?: boolean; isEnv?: boolean }) =>
        Object.fromEntries(
          Object.keys(stages).map((stage) => [`out/${stage}.json`, json(merged(stage, options))]),
        );
      return {
        prompt:
          "Work out the effective settings of the stages test, staging and production and write them to out/test.json, out/staging.json and out/production.json. config/defaults.json holds for all; the stage's JSON file wins over it, key by key also within server, log and features (lists are replaced as a whole); the stage's .env file wins over both: APP_SERVER_PORT=80 is server.port, a number where the default is a number. Leave the folder config as it is.",
        files,
        check: ({ files: after }) => [
          ...Object.keys(stages).flatMap((stage) => jsonIs(after, `out/${stage}.json`, merged(stage))),
          ...touched(files, after),
        ],
        solution: results(),
        mistake: results({ isEnv: false }),
      };
    },
  },
  {
    id: "gateway-routes",
    kind: "configuration",
    assign: (random) => {
      const names = random.shuffle(["users", "orders", "search", "mail", "billing"]);
      const services = names.map((name, at) => ({
        name,
        port: 4000 + random.between(1, 90) * 10 + at,
        routes: [`/${name}`, ...(at % 2 === 0 ? [`/${name}/admin`] : [])],
        enabled: at !== 3,
        ...(at === 1 && { prefix: "/v2" }),
      }));
      const routes = (isCounted: (service: (typeof services)[number]) => boolean) =>
        services
          .filter(isCounted)
          .flatMap(({ name, port, routes: own, ...rest }) =>
            own.map((path) => ({
              path: `${"prefix" in rest ? rest.prefix : "/v1"}${path}`,
              target: `http://localhost:${port}`,
              service: name,
            })),
          )
          .toSorted((a, b) => (a.path < b.path ? -1 : 1));
      const files = Object.fromEntries(
        services.map((service) => [`services/${service.name}.json`, json(service)]),
      );
      const right = routes(({ enabled }) => enabled);
      const disabled = [names[3]!];
      return {
        prompt:
          'Make gateway.json from the files in services: { "routes": [{ "path", "target", "service" }], "disabled": [names] }. Every route of a service that is enabled is an entry: its path with the service\'s prefix in front (/v1 where it has none), its target http://localhost:PORT, and the service\'s name. Entries are sorted by path. Services that are not enabled have no entry; their names stand in disabled. Leave the folder services as it is.',
        files,
        check: ({ files: after }) => [
          ...jsonIs(after, "gateway.json", { routes: right, disabled }),
          ...touched(files, after),
        ],
        solution: { "gateway.json": json({ routes: right, disabled }) },
        mistake: { "gateway.json": json({ routes: routes(() => true), disabled }) },
      };
    },
  },
  {
    id: "translations",
    kind: "configuration",
    assign: (random) => {
      const words: Record<string, Record<string, string>> = {
        en: {
          "menu.open": "Open",
          "menu.close": "Close",
          "menu.quit": "Quit",
          "error.disk": "Disk = full",
          title: "Editor",
        },
        de: {
          "menu.open": "Öffnen",
          "menu.close": "Schließen",
          "menu.quit": "Beenden",
          "error.disk": "Platte = voll",
          title: "Editor",
        },
        fr: {
          "menu.open": "Ouvrir",
          "menu.close": "Fermer",
          "menu.quit": "Quitter",
          "error.disk": "Disque = plein",
          title: "Éditeur",
        },
        it: {
          "menu.open": "Apri",
          "menu.close": "Chiudi",
          "menu.quit": "Esci",
          "error.disk": "Disco = pieno",
          title: "Editor",
        },
      };
      const keys = Object.keys(words["en"]!);
      const lost: Record<string, string[]> = Object.fromEntries(
        ["de", "fr", "it"].map((language) => [
          language,
          random.shuffle(keys).slice(0, random.between(1, 2)).toSorted(),
        ]),
      );
      const own = (language: string): [string, string][] =>
        Object.entries(words[language]!).filter(([key]) => !lost[language]?.includes(key));
      const nested = (language: string, isFilled: boolean) => {
        const pairs = isFilled
          ? Object.entries({ ...words["en"], ...Object.fromEntries(own(language)) })
          : own(language);
        const result: Record<string, string | Record<string, string>> = {};
        for (const [key, text] of pairs) {
          const [group, name] = key.split(".") as [string, string | undefined];
          if (name === undefined) result[group] = text;
          else result[group] = { ...(result[group] as Record<string, string> | undefined), [name]: text };
        }
        return result;
      };
      const files = Object.fromEntries(
        Object.keys(words).map((language) => [
          `lang/${language}.properties`,
          lines(`# ${language}`, ...own(language).map(([key, text]) => `${key} = ${text}`)),
        ]),
      );
      const results = (isFilled: boolean) => ({
        ...Object.fromEntries(
          Object.keys(words).map((language) => [`json/${language}.json`, json(nested(language, isFilled))]),
        ),
        "json/missing.json": json(lost),
      });
      return {
        prompt:
          'Convert each lang/X.properties to json/X.json. A key such as menu.open becomes { "menu": { "open": … } }; everything after the first = is the text, without the spaces around it. Texts that a language lacks are filled in from English. Write json/missing.json too: an object from language to the sorted list of the keys it lacks, for all languages but English. Leave the folder lang as it is.',
        files,
        check: ({ files: after }) => [
          ...Object.keys(words).flatMap((language) =>
            jsonIs(after, `json/${language}.json`, nested(language, true)),
          ),
          ...jsonIs(after, "json/missing.json", lost),
          ...touched(files, after),
        ],
        solution: results(true),
        mistake: results(false),
      };
    },
  },
  {
    id: "feature-flags",
    kind: "configuration",
    assign: (random) => {
      const flags = random
        .shuffle(["dark-mode", "fast-sync", "new-editor", "beta-api", "offline"])
        .map((name, at) => ({
          name,
          on: at % 2 === 0,
          percent: random.between(1, 9) * 10,
          owners: at === 2 ? [] : ["web", random.pick(["core", "data"])],
        }));
      const ini = (list: typeof flags): string =>
        lines(
          ...list.flatMap(({ name, on, percent, owners }) => [
            `[${name}]`,
            `on = ${on ? "yes" : "no"}`,
            `percent = ${percent}`,
            `owners = ${owners.join(", ")}`,
            "",
          ]),
        );
      const files = {
        "flags-web.ini": ini(flags.slice(0, 2)),
        "flags-core.ini": ini(flags.slice(2)),
        "retired.txt": lines(flags[1]!.name),
        "percent.csv": lines("flag,percent", `${flags[0]!.name},100`, `${flags[4]!.name},5`),
      };
      const percents: Record<string, number> = { [flags[0]!.name]: 100, [flags[4]!.name]: 5 };
      const table = Object.fromEntries(
        flags
          .filter((_, at) => at !== 1)
          .map(({ name, ...flag }) => [name, { ...flag, percent: percents[name] ?? flag.percent }]),
      );
      return {
        prompt:
          'Make flags.json from flags-web.ini and flags-core.ini: an object from flag to { "on": true or false, "percent": number, "owners": list of strings }. Flags in retired.txt are left out. A percentage in percent.csv wins over the one in the .ini file. Then delete the two .ini files; leave the other files as they are.',
        files,
        check: ({ files: after }) => [
          ...jsonIs(after, "flags.json", table),
          ...["flags-web.ini", "flags-core.ini"].flatMap((path) =>
            after[path] === undefined ? [] : [`${path} is still there`],
          ),
          ...touched(files, after, ["retired.txt", "percent.csv"]),
        ],
        solution: {
          "flags.json": json(table),
          "flags-web.ini": undefined,
          "flags-core.ini": undefined,
        },
        mistake: { "flags.json": json(table), "flags-web.ini": undefined },
      };
    },
  },
];
