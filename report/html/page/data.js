// data: what the page carries. Blocks of columns (u32, split into byte planes) and texts (JSON) are deflated parts of the page,
// each with an id. A part is unpacked when it is first needed: reading one that is still packed gives nothing and puts it on
// the list of what is wanted; app.js then unpacks it and shows the view again.

function decodeBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const bytes = atob(text),
    decoded = new Uint8Array(bytes.length);
  for (let i = 0; i < decoded.length; i++) decoded[i] = bytes.charCodeAt(i);
  return decoded;
}

async function inflate(id) {
  const stream = new DecompressionStream("deflate-raw"),
    writer = stream.writable.getWriter(),
    reader = stream.readable.getReader(),
    chunks = [];
  writer.write(decodeBase64(document.getElementById(id).textContent)).catch(() => {}); // the reader tells of damage
  writer.close().catch(() => {});
  let size = 0;
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    chunks.push(piece.value);
    size += piece.value.length;
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

async function inflateJson(id) {
  return JSON.parse(new TextDecoder().decode(await inflate(id)));
}

// The byte planes of a column, back into integers. What only has low planes has small values.
function unshuffle(bytes, at, n, planes) {
  const column = new Uint32Array(n);
  if (planes === 1) column.set(bytes.subarray(at, at + n));
  else if (planes === 2) for (let i = 0; i < n; i++) column[i] = bytes[at + i] | (bytes[at + n + i] << 8);
  else if (planes === 3) for (let i = 0; i < n; i++) column[i] = bytes[at + i] | (bytes[at + n + i] << 8) | (bytes[at + 2 * n + i] << 16);
  else if (planes)
    for (let i = 0; i < n; i++)
      column[i] = bytes[at + i] | (bytes[at + n + i] << 8) | (bytes[at + 2 * n + i] << 16) | (bytes[at + 3 * n + i] << 24);
  return column;
}

// A block is its columns, each behind how many values and how many planes it has; "node.frame" becomes block.node.frame.
function unpackBlock(bytes, names) {
  const view = new DataView(bytes.buffer),
    block = {};
  let at = 0;
  for (const name of names) {
    const [group, column] = name.split("."),
      n = view.getUint32(at, true),
      planes = view.getUint32(at + 4, true);
    block[group] ||= {};
    block[group][column] = unshuffle(bytes, at + 8, n, planes);
    at += 8 + planes * n;
  }
  return block;
}

// Values may exceed 32 bits: two columns, low and high.
function wide(low, high) {
  const column = new Float64Array(low.length);
  column.set(low);
  if (high.some((part) => part > 0)) for (let i = 0; i < low.length; i++) column[i] += high[i] * 4294967296;
  return column;
}

const NONE = new Uint32Array(0);
const NOTHING = {
  // of blocks that are still packed
  node: { call_file: NONE, call_line: NONE },
  point: { node: NONE, file: NONE, line: NONE, metric: NONE, thread: NONE, offset: NONE, value: NONE },
  time: { thread: NONE, bin: NONE, value: NONE },
};

class Data {
  constructor() {
    this.parts = new Map(); // id -> what is unpacked
    this.wanted = new Set();
  }

  async open() {
    const [meta, bytes] = await Promise.all([inflateJson("block-meta"), inflate("block-tree")]);
    this.meta = meta;
    const { frame, node, value } = unpackBlock(bytes, meta.columns.tree);
    this.frame = frame;
    this.n = node.frame.length;
    this.node = { parent: new Int32Array(this.n), frame: node.frame };
    for (let i = 0; i < this.n; i++) this.node.parent[i] = i - node.back[i];
    const at = value.step; // each says how far behind the one before it stands
    for (let i = 1; i < at.length; i++) at[i] += at[i - 1];
    this.value = { node: at, thread: value.thread, metric: value.metric, value: wide(value.low, value.high) };
    return this;
  }

  // Is there such a part, packed or not?
  carries(id) {
    return this.parts.has(id) || document.getElementById(id) !== null;
  }

  get(id) {
    if (!this.parts.has(id) && this.carries(id)) this.wanted.add(id);
    return this.parts.get(id);
  }

  get sites() {
    return (this.get("block-sites") || NOTHING).node;
  }
  get point() {
    return (this.get("block-lines") || NOTHING).point;
  }
  get time() {
    return (this.get("block-time") || NOTHING).time;
  }

  async unpack(id) {
    if (this.parts.has(id) || !this.carries(id)) return;
    if (!id.startsWith("block-")) return void this.parts.set(id, await inflateJson(id));
    const block = unpackBlock(await inflate(id), this.meta.columns[id.slice(6)]);
    if (block.point) block.point.value = wide(block.point.low, block.point.high);
    this.parts.set(id, block);
  }

  async unpackWanted() {
    const ids = [...this.wanted];
    await Promise.all(ids.map((id) => this.unpack(id)));
    for (const id of ids) this.wanted.delete(id);
  }
}
