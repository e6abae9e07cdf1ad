// ranks: of a reduced profile, how much more the slowest rank spent than ranks do on average. What the few slowest ones spent is
// known as metrics of their own, behind those that were measured.

// { percent, rank } of costs by metric; rank is -1 where none of those is above the average. null: nothing was spent, or it is no such profile.
function slowestRank(model, costOf) {
  const { ranks } = model.data.meta,
    { metric } = model;
  if (!ranks || metric >= ranks.first_metric) return null;
  const mean = costOf(metric) / ranks.n_ranks;
  let most = mean,
    rank = -1;
  ranks.slowest.forEach((number, i) => {
    const cost = costOf(ranks.first_metric + metric * ranks.slowest.length + i);
    if (cost > most) [most, rank] = [cost, number];
  });
  return mean > 0 ? { percent: 100 * (most / mean - 1), rank } : null;
}

// cost as in costColumns.
function rankColumns(model, cost) {
  const of = (row) => slowestRank(model, (metric) => cost.total(row, metric));
  if (!model.data.meta.ranks) return [];
  return [
    {
      name: "imbalance",
      title: "cost of the slowest rank above the average: maximum / average − 1",
      width: "5.6rem",
      num: true,
      by: (row) => (of(row) ? of(row).percent : null),
      cell: (row) => (of(row) ? of(row).percent.toFixed(1) + "%" : ""),
    },
    {
      name: "slowest",
      title: "the rank with the highest cost",
      width: "4.6rem",
      num: true,
      by: (row) => (of(row) && of(row).rank >= 0 ? of(row).rank : null),
      cell: (row) => (of(row) && of(row).rank >= 0 ? String(of(row).rank) : ""),
    },
  ];
}

// Of costs by metric: cells of a table of lines.
function rankCells(model, costs) {
  const slowest = costs ? slowestRank(model, (metric) => costs[metric]) : null;
  return [slowest ? slowest.percent.toFixed(1) + "%" : "", slowest && slowest.rank >= 0 ? String(slowest.rank) : ""];
}

// How many metrics were measured: those behind them are single ranks'.
function measuredMetrics(model) {
  const { ranks } = model.data.meta;
  return ranks ? ranks.first_metric : model.metrics.length;
}
