type Value = Record<string, unknown>;

const OPERATORS: Record<string, (found: unknown, wanted: unknown) => boolean> = {
  $eq: (found, wanted) => found === wanted,
  $ne: (found, wanted) => found !== wanted,
  $gt: (found, wanted) => Number(found) > Number(wanted),
  $gte: (found, wanted) => Number(found) >= Number(wanted),
  $lt: (found, wanted) => Number(found) < Number(wanted),
  $lte: (found, wanted) => Number(found) <= Number(wanted),
  $in: (found, wanted) => Array.isArray(wanted) && wanted.includes(found),
  $nin: (found, wanted) => !Array.isArray(wanted) || !wanted.includes(found),
};

/** Whether an item's value fits the filter of a search, as LangGraph's store in memory has it. */
export function isMatch(value: Value, filter: Value): boolean {
  return Object.entries(filter).every(([key, wanted]) => {
    if (!isOperators(wanted)) return value[key] === wanted;
    return Object.entries(wanted).every(([name, operand]) => OPERATORS[name]!(value[key], operand));
  });
}

function isOperators(wanted: unknown): wanted is Value {
  if (typeof wanted !== "object" || wanted === null) return false;
  return Object.keys(wanted).every((name) => Object.hasOwn(OPERATORS, name));
}
