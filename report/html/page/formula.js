// formula: a small expression over metrics, such as "ipc = instructions / cycles", as a column of its own.
//
//   [label =] sum      sum: product {(+|-) product}      product: factor {(*|/) factor}
//   factor: number | (sum) | -factor | metric | self(metric) | all(metric)
//
// A metric alone is its total; self() is without what is called, all() that of everything shown. Metrics are known by their
// names, the longest that fits, so that "cache-misses" is one; quotes help where that is not what was meant.

const LONGEST_FORMULA = 200;

class FormulaParser {
  constructor(text, names) {
    this.text = text;
    this.at = 0;
    this.names = names.map((name, i) => [name, i]).sort((a, b) => b[0].length - a[0].length);
  }

  fail(what) {
    throw new Error(`${what} at "${this.text.slice(this.at, this.at + 12) || "the end"}"`);
  }
  skip() {
    while (this.text[this.at] === " ") this.at++;
  }

  take(token) {
    this.skip();
    if (!this.text.startsWith(token, this.at)) return false;
    this.at += token.length;
    return true;
  }

  expect(token) {
    if (!this.take(token)) this.fail(`"${token}" is missing`);
  }

  // The first of these operators that comes next.
  operator(tokens) {
    return tokens.find((token) => this.take(token));
  }

  metric() {
    this.skip();
    const rest = this.text.slice(this.at),
      quoted = /^"([^"]*)"/.exec(rest);
    const fits = ([name]) => (quoted ? name === quoted[1] : rest.startsWith(name) && !/^[\w.]/.test(rest.slice(name.length)));
    const found = this.names.find(fits);
    if (!found) this.fail("no such metric");
    this.at += quoted ? quoted[0].length : found[0].length;
    return found[1];
  }

  factor() {
    this.skip();
    const number = /^\d+(\.\d+)?(e[+-]?\d+)?/i.exec(this.text.slice(this.at));
    if (number) {
      this.at += number[0].length;
      return () => Number(number[0]);
    }
    if (this.take("(")) {
      const inner = this.sum();
      this.expect(")");
      return inner;
    }
    if (this.take("-")) {
      const inner = this.factor();
      return (cost) => -inner(cost);
    }
    const of = this.operator(["self(", "all("]),
      metric = this.metric();
    if (of) this.expect(")");
    const kind = { "self(": "self", "all(": "all" }[of] || "total";
    return Object.assign((cost) => cost(metric, kind), { metric });
  }

  product() {
    let left = this.factor();
    for (let op = this.operator(["*", "/"]); op; op = this.operator(["*", "/"])) {
      const a = left,
        b = this.factor();
      left = op === "*" ? (cost) => a(cost) * b(cost) : (cost) => a(cost) / b(cost);
    }
    return left;
  }

  sum() {
    let left = this.product();
    for (let op = this.operator(["+", "-"]); op; op = this.operator(["+", "-"])) {
      const a = left,
        b = this.product();
      left = op === "+" ? (cost) => a(cost) + b(cost) : (cost) => a(cost) - b(cost);
    }
    return left;
  }
}

// { label, value(cost), metric }: cost(metric, "total" | "self" | "all") gives numbers; metric is that of a formula that is
// nothing else, so that its amounts have a unit, or -1. Throws an error that says what is wrong and where.
function parseFormula(text, names) {
  if (text.length > LONGEST_FORMULA) throw new Error("too long");
  const named = /^([^="()]*)=(.*)$/.exec(text),
    body = (named ? named[2] : text).trim(),
    parser = new FormulaParser(body, names),
    value = parser.sum();
  parser.skip();
  if (parser.at < body.length) parser.fail("not understood");
  return { label: named && named[1].trim() ? named[1].trim() : body, value, metric: value.metric ?? -1 };
}

// The formulas of the address; those that are wrong are left out.
function formulas(model) {
  const found = [];
  for (const text of state.x.split(";").filter((part) => part.trim())) {
    try {
      found.push({
        text,
        ...parseFormula(
          text,
          model.metrics.map((m) => m.name),
        ),
      });
    } catch {
      /* it was told when it was entered */
    }
  }
  return found;
}

// Large and small numbers alike in four digits.
function shortNumber(value) {
  const size = Math.abs(value);
  return size >= 1e4 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(4)));
}
