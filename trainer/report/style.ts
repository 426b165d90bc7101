/** The report's style sheet: light and dark by the reader's choice, black on white on paper, no font or file from elsewhere. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #ffffff; --card: #f6f8fb; --ink: #17202c; --soft: #5a6778; --rule: #dde3ea; --bar: #6b9be0;
  --good: #1c7a4a; --bad: #b3261e; --warn: #8a5a00;
  --good-tint: #e2f4e9; --bad-tint: #fbe6e4; --warn-tint: #fff3d6;
  --series-1: #2563b8; --series-2: #c2600a; --series-3: #1c7a4a; --series-4: #8a3fa8; --series-5: #0f7f8a; --series-6: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #12161c; --card: #1a2029; --ink: #e6ebf2; --soft: #9aa7b8; --rule: #2c3542; --bar: #4d7fc4;
    --good: #6fd19a; --bad: #ff9a90; --warn: #f0c163;
    --good-tint: #16301f; --bad-tint: #3a1b19; --warn-tint: #35290f;
    --series-1: #7db0ff; --series-2: #ffb066; --series-3: #6fd19a; --series-4: #d39bf0; --series-5: #63d0dc; --series-6: #ff9a90;
  }
}
@media print {
  :root {
    color-scheme: light;
    --paper: #fff; --card: #fff; --ink: #000; --soft: #444; --rule: #bbb; --bar: #6b9be0;
    --good: #14613a; --bad: #9c1f18; --warn: #6e4800; --good-tint: #fff; --bad-tint: #fff; --warn-tint: #fff;
    --series-1: #1b4f96; --series-2: #a34f06; --series-3: #14613a; --series-4: #6e3187; --series-5: #0b636c; --series-6: #9c1f18;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 1080px; padding: 32px 24px 64px; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
h1 { margin: 0 0 14px; font-size: 28px; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 44px 0 6px; font-size: 19px; }
p { margin: 0 0 10px; }
small { color: var(--soft); font-size: 12px; white-space: nowrap; }
code, pre { font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
pre { padding: 14px 16px; background: var(--card); border: 1px solid var(--rule); border-radius: 8px; overflow-x: auto; white-space: pre-wrap; }
.brand { margin: 0; color: var(--soft); font-size: 13px; letter-spacing: .04em; }
.lead { max-width: 76ch; color: var(--soft); }
.verdict { padding: 12px 16px; border-radius: 8px; font-weight: 600; background: var(--card); }
.verdict.better { background: var(--good-tint); color: var(--good); }
.verdict.worse, .verdict.alarm { background: var(--bad-tint); color: var(--bad); }
.verdict.unclear { background: var(--warn-tint); color: var(--warn); }
dl { margin: 0; } dd { margin: 0; }
.facts { display: flex; flex-wrap: wrap; gap: 6px 28px; margin-top: 14px; }
.facts dt, .tiles dt { color: var(--soft); font-size: 12px; }
.facts dd { overflow-wrap: anywhere; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 10px 0 14px; }
.tiles div { display: flex; flex-direction: column-reverse; padding: 12px 16px; background: var(--card); border-radius: 8px; }
.tiles dd { font-size: 24px; font-weight: 600; font-variant-numeric: tabular-nums; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 8px 10px; border-bottom: 1px solid var(--rule); text-align: right; white-space: nowrap; }
th:first-child { text-align: left; }
thead th { color: var(--soft); font-size: 13px; font-weight: 600; }
tbody th { font-weight: 600; } tbody th small { display: block; font-weight: 400; }
.bar { background: linear-gradient(to right, var(--bar) var(--share), var(--rule) 0) no-repeat 10px 100% / calc(100% - 20px) 4px; -webkit-print-color-adjust: exact; print-color-adjust: exact; }
.scroll { overflow-x: auto; } .rewards { font-size: 13px; } .rewards th, .rewards td { padding: 7px 6px; } .rewards small { font-size: 11px; } .rewards .graded { min-width: 158px; } .rewards td.graded b { font-size: 15px; }
.difference small { display: block; }
.times { max-width: 560px; } .times td:nth-child(2) { width: 60%; text-align: left; }
.difference th, .difference td { border-bottom: 0; border-top: 2px solid var(--rule); }
.up b, .high { color: var(--good); } .down b, .low { color: var(--bad); } .middle { color: var(--warn); }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 420px), 1fr)); gap: 22px 28px; margin-top: 14px; }
.charts .wide { grid-column: 1 / -1; overflow-x: auto; } .wide > svg { min-width: 640px; }
figure { margin: 0; }
.chart { display: flex; flex-direction: column; }
.chart figcaption { flex: 1; margin-bottom: 4px; max-width: 90ch; color: var(--soft); font-size: 13px; } .chart figcaption b { display: block; color: var(--ink); font-size: 14px; }
.intervals figcaption { flex: none; } .tall { grid-row: span 2; }
.chart > svg { display: block; width: 100%; height: auto; }
.axis { fill: var(--soft); font: 11px system-ui, "DejaVu Sans", sans-serif; }
.grid { stroke: var(--rule); fill: none; }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; } .raw { fill: none; stroke-width: 1; opacity: .35; }
.band { stroke: none; opacity: .2; } .area { stroke: none; opacity: .75; } .dot { stroke: none; } .shade { fill: var(--bad-tint); } .interval { stroke-width: 3; opacity: .55; fill: none; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 2px 0 0 min(52px, 11%); color: var(--soft); font-size: 12px; }
.legend b { color: var(--ink); font-variant-numeric: tabular-nums; }
.key { width: 22px; height: 8px; vertical-align: middle; }
${[1, 2, 3, 4, 5, 6]
  .map(
    (n) =>
      `.line.series-${n}, .raw.series-${n}, .interval.series-${n} { stroke: var(--series-${n}); } .band.series-${n}, .area.series-${n}, .dot.series-${n} { fill: var(--series-${n}); }`,
  )
  .join('\n')}
.line.series-2 { stroke-dasharray: 7 3; } .line.series-3 { stroke-dasharray: 2 2; } .line.series-4 { stroke-dasharray: 9 3 2 3; }
.line.series-5 { stroke-dasharray: 4 4; } .line.series-6 { stroke-dasharray: 12 4; }
h3 { margin: 0 0 2px; padding-top: 14px; font-size: 14px; color: var(--soft); font-weight: 600; }
.components { columns: 2 420px; column-gap: 40px; margin: 6px 0; }
.components > div { break-inside: avoid; } .components ul { margin: 0; padding: 0; list-style: none; }
.components li { display: grid; grid-template-columns: 1fr 44px minmax(80px, 170px) 44px; align-items: center; justify-items: end; font-variant-numeric: tabular-nums; break-inside: avoid; }
.components code { justify-self: start; } .components span { color: var(--soft); } .spark { display: block; width: 100%; max-width: 160px; height: 36px; padding-left: 8px; }
.part th { padding-left: 26px; font-weight: 400; color: var(--soft); } .part td { color: var(--soft); }
details { margin-top: 18px; } summary { cursor: pointer; color: var(--soft); }
.task { padding: 14px 16px; margin: 0 0 16px; background: var(--card); border: 1px solid var(--rule); border-radius: 10px; }
.strip { display: grid; grid-template-columns: repeat(auto-fit, minmax(220px, 1fr)); gap: 14px; }
.film { display: grid; grid-auto-flow: column; grid-auto-columns: minmax(150px, 1fr); gap: 10px; margin: 0; padding: 2px 2px 6px; list-style: none; overflow-x: auto; }
.film img, .film .nothing { height: 170px; font-size: 13px; } .film span { display: block; margin-top: 4px; text-align: center; font-size: 13px; }
:focus-visible { outline: 2px solid var(--series-1); outline-offset: 2px; }
.prompt { font-size: 14px; overflow-wrap: anywhere; } .prompt code { color: var(--soft); font-size: 12px; }
.drawing figcaption { margin-top: 6px; text-align: center; font-size: 14px; }
img, .nothing { display: block; width: 100%; height: 230px; object-fit: scale-down; background: #fff; border: 1px solid var(--rule); border-radius: 6px; }
.nothing { display: grid; place-items: center; color: #5a6778; }
.drawing ul { margin: 6px 0 0; padding-left: 18px; font-size: 13px; color: var(--soft); overflow-wrap: anywhere; } .drawing li b { color: var(--ink); }
.said { margin-top: 8px; font-size: 13px; } .said pre { max-height: 260px; margin: 6px 0 0; padding: 8px 10px; overflow: auto; font-size: 12px; overflow-wrap: anywhere; background: var(--paper); }
.settings { columns: 2 320px; column-gap: 28px; }
.settings div { display: flex; justify-content: space-between; gap: 16px; padding: 4px 0; border-bottom: 1px solid var(--rule); break-inside: avoid; }
.settings dt { color: var(--soft); } .settings dd { overflow-wrap: anywhere; text-align: right; }
@media (max-width: 520px) {
  body { padding: 20px 16px 40px; }
  .chart:not(.wide) .axis { font-size: 15px; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  h2 { margin-top: 24px; }
  h2, .lead { break-after: avoid; }
  figure, article, tr, .tiles, .verdict { break-inside: avoid; }
  .verdict { border: 1px solid currentColor; }
  th, td { padding: 5px 6px; }
  .scroll { overflow: visible; } .rewards { font-size: 7pt; } .rewards th, .rewards td { padding: 4px 3px; } .rewards thead th, .rewards td.graded b { font-size: 7pt; }
  .rewards small { font-size: 6pt; } .rewards .graded { min-width: 0; } .rewards { break-inside: avoid; } h3 { break-after: avoid; }
  .charts { grid-template-columns: 1fr 1fr; gap: 12px 20px; } .wide > svg { min-width: 0; }
  .strip { grid-template-columns: repeat(auto-fit, minmax(30%, 1fr)); gap: 10px; }
  .components { columns: 2; column-gap: 24px; }
  .components li { grid-template-columns: 1fr 34px 100px 34px; } .spark { height: 20px; }
  img, .nothing { height: 140px; }
  .film { grid-auto-columns: minmax(0, 1fr); overflow: visible; } .film img, .film .nothing { height: 90px; } .film span { font-size: 8pt; }
  .area, .band, .bar { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  .task { padding: 10px; break-inside: avoid; } .lead { break-inside: avoid; }
  .prompt, .drawing ul { font-size: 8.5pt; }
}
`;
