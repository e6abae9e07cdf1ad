// data: unpacks what the page carries: u32 columns (byte planes, deflated) and a JSON object.

async function inflate(id) {
  const base64 = document.getElementById(id).textContent;
  const packed = await (await fetch("data:application/octet-stream;base64," + base64)).blob();
  return new Response(packed.stream().pipeThrough(new DecompressionStream("deflate-raw")));
}

// The four byte planes of a column, back into integers.
function unshuffle(bytes, at, n) {
  const column = new Uint32Array(n);
  for (let i = 0; i < n; i++)
    column[i] = bytes[at + i] | bytes[at + n + i] << 8 | bytes[at + 2 * n + i] << 16 | bytes[at + 3 * n + i] << 24;
  return column;
}

// Values may exceed 32 bits: two columns, low and high.
function wide(low, high) {
  const column = new Float64Array(low.length);
  for (let i = 0; i < low.length; i++)
    column[i] = low[i] + high[i] * 4294967296;
  return column;
}

async function load() {
  const meta = await (await inflate("meta")).json();
  const bytes = new Uint8Array(await (await inflate("columns")).arrayBuffer());
  const columns = new Map();
  let at = 0;
  for (const [name, n] of meta.columns) {
    columns.set(name, unshuffle(bytes, at, n));
    at += 4 * n;
  }
  const column = (name) => columns.get(name) || new Uint32Array(0);
  const frame = {};
  for (const name of ["kind", "flags", "name", "module", "file", "line", "end_line"])
    frame[name] = column("frame." + name);
  const node = { parent: new Int32Array(column("node.back").length), frame: column("node.frame"), relation: column("node.relation"),
    call_file: column("node.call_file"), call_line: column("node.call_line") };
  for (let i = 0; i < node.parent.length; i++)
    node.parent[i] = i - column("node.back")[i];
  const value = { node: column("value.node"), thread: column("value.thread"), metric: column("value.metric"),
    value: wide(column("value.low"), column("value.high")) };
  const point = { node: column("point.node"), file: column("point.file"), line: column("point.line"), metric: column("point.metric"), thread: column("point.thread"),
    offset: column("point.offset"), value: wide(column("point.low"), column("point.high")) };
  const time = { thread: column("time.thread"), bin: column("time.bin"), value: column("time.value") };
  return { meta, frame, node, value, point, time, n: node.parent.length };
}
