import { HumanMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { ScriptedModel } from "../../../testing/index.ts";
import { watchedModel, type Watch } from "./watched-model.ts";

const hello = [new HumanMessage("hello")];
const extra = new HumanMessage("extra");
const append: Watch = { onRequest: (messages) => [...messages, extra] };

/** A model such as `initChatModel` returns: it makes the real one when it is asked. */
class Configurable {
  readonly real = new ScriptedModel(["ok"]);
  readonly #secret = "kept";
  _getModelInstance(): Promise<ScriptedModel> {
    return Promise.resolve(this.real);
  }
  secret(): string {
    return this.#secret;
  }
}

it("sees what goes out and what comes back, however the model is wrapped", async () => {
  const ways: ((model: ScriptedModel) => Promise<unknown>)[] = [
    (model) => watchedModel(model, append).invoke(hello),
    (model) => watchedModel(model, append).bindTools([]).invoke(hello),
    (model) =>
      watchedModel(model, append)
        .withConfig({ tags: ["x"] })
        .invoke(hello),
    (model) => watchedModel(model.withConfig({ tags: ["x"] }), append).invoke(hello),
    (model) =>
      (watchedModel(model.withConfig({}), append) as unknown as { bound: ScriptedModel }).bound.invoke(hello),
  ];
  const answers: unknown[] = [];
  append.onAnswer = (answer) => void answers.push(answer);
  for (const way of ways) {
    const model = new ScriptedModel(["ok"]);
    expect(await way(model)).toBe(answers.at(-1));
    expect(model.requests[0]?.messages.at(-1)?.text).toBe("extra");
  }
});

it("follows a model that is made on demand, and leaves private fields reachable", async () => {
  const configurable = new Configurable();
  const watched = watchedModel(configurable, append);
  await (await watched._getModelInstance()).bindTools([]).invoke(hello);
  expect(configurable.real.requests[0]?.messages).toHaveLength(2);
  expect(watched.secret()).toBe("kept");
  expect(watched.constructor.name).toBe("Configurable");
});
