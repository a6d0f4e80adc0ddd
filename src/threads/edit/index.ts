export { editedPlan, editEvent, EditEvents } from "./edit-events.ts";
export {
  keepMessage,
  type KeptMessage,
  keptMessages,
  MailboxService,
  requestEdit,
  type RequestOptions,
  requestSay,
} from "./mailbox.ts";
export { PLAN_COMMAND, PLAN_SAYS, planWish, savedWords } from "./plan-command.ts";
