import { useStream } from "@langchain/react";
import { useState } from "react";
import { createRoot } from "react-dom/client";

/** What an agent of Holdfast keeps for its clients. */
interface State {
  messages: unknown[];
  todos?: { content: string; status: string }[];
  files?: Record<string, string>;
}

/** An approval in the two spellings of LangChain's libraries. */
interface Approval {
  actionRequests?: { name: string }[];
  action_requests?: { name: string }[];
}

const EDITED = { name: "write_file", args: { file_path: "/a.md", content: "edited" } };

const address = new URL(location.href);
const given = (name: string): string => address.searchParams.get(name) ?? "";

/** The least that a page makes of `useStream`: everything that it tells, as text. The address says which thread. */
function Client() {
  const [past, setPast] = useState<string[]>([]);
  const stream = useStream<State, Approval>({
    apiUrl: given("server"),
    apiKey: given("token"),
    assistantId: given("assistant"),
    threadId: address.searchParams.get("thread"),
    onThreadId: (id) => {
      address.searchParams.set("thread", id);
      history.replaceState(null, "", address);
    },
  });
  const { values, interrupt } = stream;
  const asked = interrupt?.value;
  const send = (form: FormData): void => {
    void stream.submit({ messages: [{ type: "human", content: form.get("task") }] });
  };
  const decide = (decision: object): void => void stream.respond({ decisions: [decision] });
  const readPast = async (): Promise<void> => {
    const states = await stream.client.threads.getHistory<State>(stream.threadId ?? "");
    setPast(states.map((state) => `${state.values.messages?.length ?? 0} messages`));
  };
  return (
    <>
      <h1>A client on useStream</h1>
      <p role="status">{stream.isThreadLoading ? "Loading" : stream.isLoading ? "Working" : "Idle"}</p>
      {stream.error !== undefined && <p role="alert">{JSON.stringify(stream.error)}</p>}
      <form action={send}>
        <input name="task" aria-label="Task" />
        <button type="submit">Send</button>
      </form>
      <button type="button" onClick={() => void stream.stop()}>
        Stop
      </button>
      <button type="button" onClick={() => void readPast()}>
        Past
      </button>
      {asked && (
        <section aria-label="Approval">
          <List name="In JavaScript" lines={(asked.actionRequests ?? []).map(({ name }) => name)} />
          <List name="In Python" lines={(asked.action_requests ?? []).map(({ name }) => name)} />
          <button type="button" onClick={() => decide({ type: "approve" })}>
            Approve
          </button>
          <button type="button" onClick={() => decide({ type: "edit", editedAction: EDITED })}>
            Edit
          </button>
          <button type="button" onClick={() => decide({ type: "edit", edited_action: EDITED })}>
            Edit, as Python says it
          </button>
        </section>
      )}
      <List
        name="Messages"
        lines={stream.messages
          .filter(({ text }) => text !== "")
          .map((message) => `${message.getType()}: ${message.text}`)}
      />
      <List name="Calls" lines={stream.toolCalls.map(({ name, status }) => `${name}: ${status}`)} />
      <List name="Todos" lines={(values.todos ?? []).map(({ content, status }) => `${content}: ${status}`)} />
      <List
        name="Files"
        lines={Object.entries(values.files ?? {}).map(([path, text]) => `${path}: ${text}`)}
      />
      <List name="Past" lines={past} />
    </>
  );
}

function List({ name, lines }: { name: string; lines: readonly string[] }) {
  return (
    <ul aria-label={name}>
      {lines.map((line, at) => (
        <li key={at}>{line}</li>
      ))}
    </ul>
  );
}

createRoot(document.querySelector("#root")!).render(<Client />);
