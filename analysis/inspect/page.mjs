// Start the inspect page: unpack the run's tables, draw them, and attach the controls.

import { App } from "./app.mjs";
import { buttons, keys, switches } from "./controls.mjs";
import { byId } from "./dom.mjs";
import { count, duration, percent, size } from "./format.mjs";
import { pointer } from "./pointer.mjs";
import { makeQueues } from "./queue.mjs";
import { Run } from "./run.mjs";
import { makePoints, setScale } from "./sectors.mjs";
import { Groups, unpack } from "./table.mjs";

function title(run) {
  const { about, transactions, commands } = run;
  byId("title").textContent = about.cell;
  const notices = [];
  const facts = [];
  if (about.trace) {
    facts.push(about.trace.facts);
    for (const id of ["previous", "next"]) byId(id).hidden = true;
    notices.push(about.trace.notice);
  } else {
    byId("title").title = `run ${about.run}, ${about.clock} clock`;
    const [written, none] = [about.written, about.none].map((sizes) => Object.values(sizes).reduce((a, b) => a + b, 0));
    facts.push(`${count(transactions.rows)} transactions`, `${count(commands.rows)} block commands`, `${size(written)} written`);
    if (written) {
      const unattributed = about.written.unattributed / written;
      facts.push(`${percent(unattributed)} unattributed`, `${percent(none / written)} for no transaction`);
    }
  }
  byId("facts").textContent = [...facts, duration(run.end - run.begin)].join(", ");
  if (about.cut) notices.push(about.cut.verdict);
  if (about.rejected.length) notices.push(`Rejected, do not use these numbers: ${about.rejected.join("; ")}`);
  if (!transactions.rows && !about.trace) notices.push("The run has no transactions: what is shown was done for none.");
  byId("notice").className = about.trace || (about.cut && notices.length === 1) ? "neutral" : "";
  byId("notice").hidden = !notices.length;
  byId("notice").textContent = notices.join(" ");
}

async function start() {
  const about = JSON.parse(byId("about").textContent);
  const names = Object.keys(about.tables);
  const tables = await Promise.all(names.map((name) => unpack(name, about.tables[name])));
  const run = new Run(about, Object.fromEntries(names.map((name, i) => [name, tables[i]])));
  run.points = makePoints(run);
  run.pointsOf = new Groups(run.points.command);
  setScale(run, true);
  run.queues = makeQueues(run);
  const app = new App(run);
  title(run);
  switches(app); // they take height from the stage
  app.resize();
  app.restore(location.hash);
  app.frame();
  performance.mark("drawn");
  if (!app.chosen) app.details.show(null);
  buttons(app);
  keys(app);
  pointer(app);
  addEventListener("beforeprint", () => app.paper(true));
  addEventListener("afterprint", () => app.paper(false));
  new ResizeObserver(() => app.resize()).observe(byId("stage"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => app.recolor());
  globalThis.inspect = app; // for the console, and for the tests
}

start();
