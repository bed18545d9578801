// The page of `tutti serve`. It reads /api and draws what it gets; it decides nothing. No library, no build step.
"use strict";

const $ = (id) => document.getElementById(id);
let token = sessionStorage.getItem("token") || "";
let you = null;  // whose token it is, with what it may do; null: nobody's

/** An element with attributes and children; texts are never read as HTML. */
function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "width") node.style.width = value;  // the policy of the page allows no style attributes
    else if (value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** Replaces the children of a node only where they differ, so that focus and selection stay. */
function fill(node, children) {
  const fresh = document.createElement(node.tagName);
  fresh.append(...children);
  if (fresh.innerHTML !== node.innerHTML) node.replaceChildren(...fresh.childNodes);
}

function headers() {
  return token ? { Authorization: `Bearer ${token}` } : {};
}

async function api(path, options = {}) {
  const answer = await fetch(path, { ...options, headers: { ...headers(), ...options.headers } });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error ? body.error.message : answer.statusText);
  return body;
}

function length(seconds) {
  if (seconds === null || seconds === undefined) return "";
  const whole = Math.round(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return parts.map((part) => String(part).padStart(2, "0")).join(":").replace(/^00:/, "");
}

function gigabytes(bytes) {
  return bytes === undefined || bytes === null ? "–" : (bytes / 2 ** 30).toFixed(1) + " GiB";
}

function share(value) {
  return value === undefined || value === null ? "–" : Math.round(value * 100) + " %";
}

const GOOD = ["healthy", "probing", "warming"], BAD = ["lost", "quarantine", "quarantined", "failed", "open"];

function tone(state) {
  return GOOD.includes(state) ? "good" : BAD.includes(state) ? "bad" : "warn";
}

async function act({ action, id, priority }) {
  try {
    await api(`api/${action}?id=${encodeURIComponent(id)}` + (priority === undefined ? "" : `&priority=${priority}`),
              { method: "POST" });
  } catch (error) {
    alert(`${action}: ${error.message}`);
  }
  refresh();
}

function action(name, id) {
  return el("button", { "data-action": name, "data-id": id }, name);
}

function priority(job, step, sign) {
  return el("button", { "data-action": "priority", "data-id": job.id, "data-priority": job.priority + step,
    "aria-label": `${step > 0 ? "raise" : "lower"} the priority of ${job.name}` }, sign);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-action]");
  if (button) act(button.dataset);
});

// ---- devices and work --------------------------------------------------------------------------------------------

function deviceCard(device) {
  const row = (name, value) => [el("dt", {}, name), el("dd", {}, value)];
  const foreign = device.foreign_load_ratio ?? 0, own = device.own_load_ratio ?? 0;
  const bar = el("div", { class: "bar", title: "own and foreign load" }, el("i", { width: `${own * 100}%` }),
                 el("i", { class: "foreign", width: `${foreign * 100}%` }));
  const most = device.most_windows ?? "–";
  const facts = el("dl", {},
    ...row("load, own / foreign", `${share(device.own_load_ratio)} / ${share(device.foreign_load_ratio)}`),
    ...row("memory, own / all", `${gigabytes(device.own_memory_bytes)} / ${gigabytes(device.total_memory_bytes)}`),
    ...row("windows", `${device.windows} / ${most}`),
    ...row("tasks", `${device.tasks}${device.most_tasks === undefined ? "" : " / " + device.most_tasks}`),
    ...row("speed", device.speed_audio_seconds_per_second === undefined ? "–"
      : device.speed_audio_seconds_per_second.toFixed(1) + " x"),
    ...row("power", device.power_watts === undefined ? "–" : Math.round(device.power_watts) + " W"),
    ...row("audio done", length(device.audio_done_seconds)));
  const drained = device.state.startsWith("drain");
  return el("div", { class: "card" }, el("h3", {}, device.name || device.id),
    el("p", { class: "reason" }, el("span", { class: `state ${tone(device.state)}` }, device.state),
       ` ${device.id}${device.reason ? ": " + device.reason : ""}${device.memory_limit ? "; " + device.memory_limit : ""}`),
    bar, facts, spark(device.id), you?.operator ? action(drained ? "resume" : "drain", device.id) : null);
}

function showStatus(status) {
  const fleet = status.fleet;
  const jobs = status.jobs;
  const counts = jobs ? `store: ${jobs.done} done, ${jobs.running} running, ${jobs.queued} queued, ${jobs.failed} failed` : "";
  const now = fleet ? `${fleet.running ?? 0} in work, ${fleet.done ?? 0} done` +
    (fleet.left_seconds === undefined ? "" : `, ${length(fleet.left_seconds)} left`) : "nothing runs";
  $("headline").textContent = [status.model, now, counts].filter(Boolean).join(" · ");
  you = status.client;
  $("who").textContent = you ? `${you.name}${you.operator ? ", operator" : ""}`
    : token ? "this token is none of the server's" : "";
  $("who").className = you ? "faint" : "bad";
  $("drop-section").hidden = !(status.model && you);
  fill($("devices"), fleet && fleet.devices.length ? fleet.devices.map(deviceCard)
    : [el("p", { class: "faint" }, "No device is at work here: no batch runs on this store.")]);
  requests = fleet ? fleet.in_work.filter((job) => status.model ? !/^\d+$/.test(job.id) : true) : [];
  showList();
}

/** Follows the status; where the server goes, it is looked for again every second. */
async function follow() {
  for (;;) {
    try {
      const answer = await fetch("api/events", { headers: headers() });
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        text += value;
        const parts = text.split("\n\n");
        text = parts.pop();
        const last = parts.filter((part) => part.startsWith("data: ")).pop();
        if (last) showStatus(JSON.parse(last.slice(6)));
        if (followed !== token) { reader.cancel(); break; }
      }
    } catch (error) {
      $("headline").textContent = "the server does not answer; trying again";
    }
    followed = token;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}
let followed = token;

// ---- throughput --------------------------------------------------------------------------------------------------

const SPANS = [["5 min", 5], ["1 h", 60], ["24 h", 1440], ["7 d", 10080], ["30 d", 43200]];
let minutes = 5;

const SVG = "http://www.w3.org/2000/svg";
const EDGE = { left: 52, right: 44, top: 10, bottom: 24 };  // room of the axes, pixels
let seen = null;  // what the chart shows

function svg(name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

/** A path through samples; what was not seen is a gap, and a lone sample a dot. */
function line(samples, x, y, step) {
  let path = "", before = null;
  for (const sample of samples) {
    const begins = before === null || sample[0] - before > 2.5 * step;
    path += `${begins ? "M" : "L"}${x(sample).toFixed(1)} ${y(sample).toFixed(1)}${begins ? "h.1" : ""}`;
    before = sample[0];
  }
  return path;
}

/** The least of 1, 2, 5, 10, 20, ... that is not below a value. */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 2, 5, 10].find((step) => step * power >= value);
}

function clock(seconds) {
  const at = new Date(seconds * 1000);
  return minutes <= 1440 ? at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
    : at.toLocaleDateString([], { month: "short", day: "numeric" });
}

async function showThroughput() {
  const data = await api(`api/throughput?minutes=${minutes}`);
  histories = Object.fromEntries(data.devices.map((device) => [device.id, device.samples]));
  const width = $("chart").clientWidth || 800, height = $("chart").clientHeight || 200;
  const at = data.now_unix_seconds, span = minutes * 60, samples = data.samples;
  const step = minutes <= 60 ? 5 : minutes <= 1440 ? 60 : 1800;
  const most = roundUp(Math.max(1, ...samples.map((sample) => sample[1])));
  const x = (sample) => EDGE.left + (width - EDGE.left - EDGE.right) * (1 - (at - sample[0]) / span);
  const y = (share) => height - EDGE.bottom - (height - EDGE.bottom - EDGE.top) * Math.min(1, share);
  const drawn = [];
  for (const share of [0, 0.5, 1]) {
    drawn.push(svg("line", { class: "grid", x1: EDGE.left, x2: width - EDGE.right, y1: y(share), y2: y(share) }),
      svg("text", { x: EDGE.left - 6, y: y(share) + 4, "text-anchor": "end" }, `${+(most * share).toPrecision(3)} x`),
      svg("text", { x: width - EDGE.right + 6, y: y(share) + 4 }, `${share * 100} %`));
  }
  for (const part of [0, 0.5, 1])
    drawn.push(svg("text", { x: x([at - span * (1 - part)]), y: height - 6,
      "text-anchor": ["start", "middle", "end"][part * 2] }, clock(at - span * (1 - part))));
  drawn.push(svg("path", { d: line(samples, x, (sample) => y(sample[1] / most), step) }),
    svg("path", { class: "busy", d: line(samples, x, (sample) => y(sample[2] ?? 0), step) }),
    svg("line", { id: "cursor", y1: EDGE.top, y2: height - EDGE.bottom, x1: -9, x2: -9 }));
  $("chart").setAttribute("viewBox", `0 0 ${width} ${height}`);
  $("chart").replaceChildren(...drawn);
  seen = { samples, x };
  if (!hovered) $("chart-text").textContent = chartText();
}

function chartText() {
  return seen && seen.samples.length ? "Line: seconds of audio a second. Dashes: share of the devices at work. " +
    "Where nothing was seen there is a gap." : "Nothing was seen in this time.";
}

let hovered = false;
$("chart").addEventListener("pointermove", (event) => {
  if (!seen || !seen.samples.length) return;
  const at = event.clientX - $("chart").getBoundingClientRect().left;
  const near = seen.samples.reduce((best, sample) => Math.abs(seen.x(sample) - at) < Math.abs(seen.x(best) - at) ? sample : best);
  hovered = true;
  for (const end of ["x1", "x2"]) $("cursor").setAttribute(end, seen.x(near));
  $("chart-text").textContent = `${new Date(near[0] * 1000).toLocaleString()}: ${near[1].toFixed(1)} x, ` +
    `${share(near[2])} of the devices at work`;
});
$("chart").addEventListener("pointerleave", () => {
  hovered = false;
  $("chart-text").textContent = chartText();
});

let histories = {};  // samples of each device, by its id

/** The speed of one device in the time that the chart shows. */
function spark(id) {
  const samples = histories[id] ?? [];
  const most = Math.max(1, ...samples.map((sample) => sample[1]));
  const last = samples.length ? samples[samples.length - 1][0] : 0;
  const picture = svg("svg", { class: "spark", viewBox: "0 0 200 30", preserveAspectRatio: "none", role: "img",
    "aria-label": `speed of ${id}, up to ${most.toFixed(1)} x` });
  picture.append(svg("path", { d: line(samples, (sample) => 200 * (1 - (last - sample[0]) / (minutes * 60)),
    (sample) => 29 - 28 * sample[1] / most, minutes <= 60 ? 5 : minutes <= 1440 ? 60 : 1800) }));
  return picture;
}

// ---- recordings, runs, events -----------------------------------------------------------------------------------------

const OPEN = "running,queued,held,failed";  // what may want somebody's eye; of a large store the rest is long
const STATES = ["open", "all", "queued", "running", "failed", "done", "held", "cancelled"];
const AT_ONCE = 50, MOST_AT_ONCE = 200;
let state = "open", shown = [], wanted = AT_ONCE;
let requests = [];     // in work, and in no store
const read = new Map();  // transcripts that are open, by the job's id

function jobButtons(job) {
  const buttons = [];
  if (job.has_result) {
    buttons.push(el("button", { "data-read": job.id }, read.has(String(job.id)) ? "close" : "read"));
    for (const format of ["text", "srt", "vtt", "verbose_json"])
      buttons.push(el("button", { "data-result": format, "data-id": job.id, "data-name": job.name }, format.replace("verbose_", "")));
  }
  if (job.may_steer && ["failed", "cancelled"].includes(job.state)) buttons.push(action("retry", job.id));
  if (job.may_steer && ["queued", "running", "held"].includes(job.state)) buttons.push(action("cancel", job.id));
  if (job.may_steer && job.state === "queued" && job.of_service) buttons.push(priority(job, 1, "+"), priority(job, -1, "−"));
  if (job.own && ["done", "failed", "cancelled"].includes(job.state))
    buttons.push(el("button", { "data-remove": job.id, "data-name": job.name }, "remove"));
  return buttons.flatMap((button) => [button, " "]);
}

function bar(done) {
  return el("div", { class: "bar" }, el("i", { width: `${(done * 100).toFixed(1)}%` }));
}

function jobRows(job) {
  const rows = [el("tr", { class: "job" }, el("td", { class: "name" }, job.name),
    el("td", {}, job.state === "running" ? `running, ${share(job.progress)}` : job.state,
       job.priority ? ` (priority ${job.priority})` : "", job.state === "running" ? bar(job.progress) : null),
    el("td", {}, [job.task === "translate" ? "to English" : "", job.language].filter(Boolean).join(", ")),
    el("td", {}, length(job.audio_seconds)), el("td", {}, job.why_waiting || job.error),
    el("td", {}, ...jobButtons(job)))];
  const text = read.get(String(job.id));
  if (text !== undefined) rows.push(el("tr", { class: "transcript" }, el("td", { colspan: 6 }, text)));
  return rows;
}

/** A request that a client waits for, or audio that is being spoken: in no store. */
function requestRow(job) {
  const done = job.length_seconds ? Math.min(1, job.done_seconds / job.length_seconds) : 0;
  const state = job.id.startsWith("live-") ? ["live"] : [job.device ? `running, ${share(done)}` : "waiting", bar(done)];
  return el("tr", { class: "job" }, el("td", { class: "name" }, job.name), el("td", {}, ...state), el("td", {}),
    el("td", {}, length(job.length_seconds ?? (state.length === 1 ? job.done_seconds : null))), el("td", {}, job.waiting_for),
    el("td", {}, you?.operator || !job.name.startsWith("recording ") && you ? action("cancel", job.id) : ""));
}

function showList() {
  const open = ["open", "all", "running"].includes(state) && !$("search").value;
  const stored = new Set(shown.map((job) => String(job.id)));
  const rows = [...(open ? requests.filter((job) => !stored.has(job.id)).map(requestRow) : []), ...shown.flatMap(jobRows)];
  fill($("queue"), rows);
  $("queue-empty").hidden = rows.length > 0;
}

/** Saves the transcript of a job. */
async function download({ result, id, name }) {
  const answer = await fetch(`v1/jobs/${id}/result?response_format=${result}`, { headers: headers() });
  if (!answer.ok) return alert((await answer.json()).error.message);
  const ending = { text: "txt", verbose_json: "json" }[result] || result;
  save(await answer.blob(), `${name.replace(/\.[^.]*$/, "")}.${ending}`);
}

function save(blob, name) {
  const url = URL.createObjectURL(blob);
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Opens a transcript below its row, or closes it. */
async function toggle(id) {
  if (read.delete(id)) return showList();
  try {
    read.set(id, (await api(`v1/jobs/${id}/result?response_format=json`)).text || "Nothing was spoken.");
  } catch (error) {
    read.set(id, error.message);
  }
  showList();
}

async function remove({ remove: id, name }) {
  if (!confirm(`Remove ${name} with its transcript?`)) return;
  try {
    await api(`v1/jobs/${id}`, { method: "DELETE" });
  } catch (error) {
    alert(error.message);
  }
  refresh();
}

$("queue").addEventListener("click", (event) => {
  const { dataset } = event.target.closest("button") ?? { dataset: {} };
  if (dataset.result) download(dataset);
  if (dataset.read) toggle(dataset.read);
  if (dataset.remove) remove(dataset);
});

let loading = 0;

/** All that is shown, again: also what came by "More". */
async function loadList() {
  const filter = (state === "all" ? "" : `&state=${state === "open" ? OPEN : state}`) +
    ($("search").value ? `&name=${encodeURIComponent($("search").value)}` : "");
  const jobs = [], own = ++loading;
  let before = 0, data = null, more = true;
  while (more && jobs.length < wanted) {
    const limit = Math.min(MOST_AT_ONCE, wanted - jobs.length);
    data = await api(`api/queue?limit=${limit}&before=${before}${filter}`);
    jobs.push(...data.jobs);
    before = data.next_before;
    more = data.jobs.length === limit;
  }
  if (own !== loading) return;  // another choice has been made meanwhile
  shown = jobs;
  $("more").hidden = !more;
  showList();
  for (const button of $("states").children) {
    const count = data.counts[button.dataset.state];
    button.textContent = button.dataset.state + (count === undefined ? "" : ` ${count}`);
  }
}

$("more").addEventListener("click", () => {
  wanted += AT_ONCE;
  loadList();
});
let searching = null;
$("search").addEventListener("input", () => {
  clearTimeout(searching);
  searching = setTimeout(() => { wanted = AT_ONCE; loadList(); }, 250);
});

function whereTimeWent(run) {
  const idle = {};
  let busy = 0;
  for (const device of run.devices) {
    busy += device.busy_seconds;
    for (const [why, seconds] of Object.entries(device.idle_seconds)) idle[why] = (idle[why] || 0) + seconds;
  }
  const all = busy + Object.values(idle).reduce((sum, seconds) => sum + seconds, 0);
  if (!all) return "";
  const most = Object.entries(idle).sort((a, b) => b[1] - a[1]).slice(0, 2).filter(([, seconds]) => seconds / all >= 0.01);
  return [`busy ${share(busy / all)}`, ...most.map(([why, seconds]) => `${why} ${share(seconds / all)}`)].join(", ");
}

async function showHistory() {
  const data = await api("api/history?limit=30");
  const when = (seconds) => seconds ? new Date(seconds * 1000).toLocaleString() : "";
  fill($("runs"), data.runs.map((run) => el("tr", {}, el("td", {}, String(run.run)),
    el("td", {}, when(run.started_unix_seconds)), el("td", { class: "name" }, run.model.split("/").pop()),
    el("td", {}, run.total === null ? "in work, or stopped" : `${run.successful} of ${run.total}` +
       (run.failed ? `, ${run.failed} failed` : "")),
    el("td", {}, length(run.audio_seconds)),
    el("td", {}, run.duration_seconds && run.devices.length ? (run.audio_seconds / run.duration_seconds).toFixed(1) + " x" : ""),
    el("td", {}, whereTimeWent(run)))));
  fill($("events"), data.events.slice(-20).reverse().map((event) => el("li", {},
    el("span", { class: "faint" }, when(event.at_unix_seconds) + " "), `${event.device}: ${event.kind} ${event.text}`)));
  if (!you) return fill($("audit"), []);
  const audit = await api("api/audit");
  fill($("audit"), audit.entries.slice(0, 20).map((entry) => el("li", {},
    el("span", { class: "faint" }, when(entry.at_unix_seconds) + " "),
    `${entry.action} ${entry.target}, by ${entry.client} at ${entry.address}${entry.error ? ": " + entry.error : ""}`)));
}

async function refresh() {
  await Promise.allSettled([showThroughput(), loadList(), showHistory()]);
}

function choices(node, entries, chosen, choose) {
  fill(node, entries.map(([name, value]) => el("button", { "data-state": value, "aria-pressed": String(value === chosen()) }, name)));
  node.onclick = (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    choose(entries.find(([, value]) => String(value) === button.dataset.state)[1]);
    for (const other of node.children) other.setAttribute("aria-pressed", String(other === button));
    refresh();
  };
}

$("token").value = token;
$("access").addEventListener("submit", (event) => {
  event.preventDefault();
  token = $("token").value.trim();
  sessionStorage.setItem("token", token);
  refresh();
});
choices($("spans"), SPANS, () => minutes, (value) => { minutes = value; });
choices($("states"), STATES.map((name) => [name, name]), () => state, (value) => { state = value; wanted = AT_ONCE; });
follow();
refresh();
setInterval(() => { if (!document.hidden) refresh(); }, 5000);
