// flame_layout: where the boxes of the flame graph are, and where in the whole picture the matches of a search are.

const THINNEST = 0.5; // pixels; what is thinner is drawn together with its neighbours

// Heaviest first, or by name: then the picture of another run has everything in the same place.
function flameOrder(model, nodes) {
  const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  return state.o !== "name" ? nodes : [...nodes].sort((a, b) => compare(model.shownLabel(a), model.shownLabel(b)));
}

// The children of a box; runs of thin ones are one box without a node.
function flameBoxes(model, box) {
  const boxes = [];
  let x = box.x,
    rest = null;
  for (const child of flameOrder(model, model.shownChildren(box.node))) {
    const w = (box.w * model.total[child]) / model.total[box.node];
    if (w >= THINNEST) {
      boxes.push({ node: child, x, w });
      rest = null;
    } else if (rest) {
      rest.w += w;
      rest.count++;
      rest.cost += model.total[child];
    } else boxes.push((rest = { node: -1, parent: box.node, x, w, count: 1, cost: model.total[child] }));
    x += w;
  }
  return boxes.filter((b) => b.node >= 0 || b.w >= THINNEST);
}

// Rows of boxes in sight: the way to the zoomed node, then level by level what is below it.
function flameRows(model, width) {
  const above = state.z ? [0, ...model.path(state.z).slice(0, -1)] : [],
    rows = above.map((node) => [{ node, x: 0, w: width, faded: true }]);
  for (
    let level = [{ node: state.z, x: 0, w: width }];
    level.length;
    level = level.filter((b) => b.node >= 0).flatMap((box) => flameBoxes(model, box))
  )
    rows.push(level);
  return rows;
}

// Where a node begins in the whole picture, and how wide it is; both of 1.
function flameExtent(model, node) {
  let x = 0;
  for (const at of model.path(node)) {
    for (const peer of flameOrder(model, model.children(model.tree.parent[at]))) {
      if (peer === at) break;
      x += model.total[peer];
    }
  }
  return { x: model.all ? x / model.all : 0, w: model.all ? model.total[node] / model.all : 1 };
}

// Matches as stretches of the whole picture, { x, w, share, node }, x and w of 1, outermost matches only: below half a pixel
// only how much of it matches is known.
function matchStretches(model, width) {
  const stretches = [],
    { all } = model,
    costs = model.matches ? model.matchedCosts() : null;
  for (const todo = all && model.matches ? [[0, 0]] : []; todo.length;) {
    const [node, x] = todo.pop(),
      w = model.total[node] / all;
    if (!costs[node]) continue;
    if (node && (model.matched(node) || w * width < THINNEST)) {
      stretches.push({ x, w, share: costs[node] / model.total[node], node });
      continue;
    }
    let at = x;
    for (const child of flameOrder(model, model.children(node))) {
      todo.push([child, at]);
      at += model.total[child] / all;
    }
  }
  return stretches.sort((a, b) => a.x - b.x);
}
