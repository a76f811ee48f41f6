// Opens a page in Chromium over its debugging protocol and prints what it saw as JSON.
// usage: node browser.mjs CHROMIUM URL FOLDER
import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [chromium, url, folder] = process.argv.slice(2);
const profile = mkdtempSync(join(folder, "profile-"));
const browser = spawn(chromium, [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--remote-debugging-port=0", `--user-data-dir=${profile}`, "about:blank",
]);
const address = await new Promise((resolve, reject) => {
  let said = "";
  browser.stderr.on("data", (data) => {
    said += data;
    const found = said.match(/ws:\/\/\S+/);
    if (found) resolve(found[0]);
  });
  browser.on("exit", () => reject(new Error(`the browser ended: ${said}`)));
});

const socket = new WebSocket(address);
await new Promise((resolve) => socket.addEventListener("open", resolve));
const waiting = new Map();
const seen = { problems: [], requests: [], views: [], reached: [], controls: [], copied: "", pdf: 0 };
let loaded = () => {};
let number = 0;
let session;
const send = (method, params = {}) => new Promise((resolve, reject) => {
  const id = ++number;
  waiting.set(id, { resolve, reject });
  socket.send(JSON.stringify({ id, method, params, sessionId: session }));
});
socket.addEventListener("message", ({ data }) => {
  const message = JSON.parse(data);
  if (message.id) {
    const { resolve, reject } = waiting.get(message.id);
    if (message.error) reject(new Error(JSON.stringify(message.error)));
    else resolve(message.result);
    return;
  }
  const { method, params } = message;
  if (method === "Network.requestWillBeSent") seen.requests.push(params.request.url);
  if (method === "Runtime.exceptionThrown") seen.problems.push(params.exceptionDetails.text);
  if (method === "Runtime.consoleAPICalled") seen.problems.push(`console: ${params.type}`);
  if (method === "Log.entryAdded") seen.problems.push(params.entry.text);
  if (method === "Page.loadEventFired") loaded();
});
const evaluate = async (expression) =>
  (await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true })).result.value;

const { targetId } = await send("Target.createTarget", { url: "about:blank" });
session = (await send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
for (const domain of ["Page", "Runtime", "Log", "Network"]) await send(`${domain}.enable`);
const done = new Promise((resolve) => { loaded = resolve; });
await send("Page.navigate", { url });
await done;

for (const scheme of ["light", "dark"]) {
  for (const width of [360, 1400]) {
    await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    await send("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: false });
    const view = await evaluate(`({
      width: innerWidth, scroll: document.documentElement.scrollWidth,
      background: getComputedStyle(document.body).backgroundColor })`);
    seen.views.push(view);
    const shot = await send("Page.captureScreenshot", { format: "png", captureBeyondViewport: true });
    writeFileSync(join(folder, `${scheme}-${width}.png`), Buffer.from(shot.data, "base64"));
  }
}

seen.controls = await evaluate(`[...document.querySelectorAll("button, summary")]
  .filter((one) => one.checkVisibility()).map((one) => one.tagName)`);
const press = async (key) => {
  await send("Input.dispatchKeyEvent", { type: "keyDown", key, code: key, windowsVirtualKeyCode: key === "Tab" ? 9 : 13,
    ...(key === "Enter" ? { text: "\r" } : {}) });
  await send("Input.dispatchKeyEvent", { type: "keyUp", key, code: key, windowsVirtualKeyCode: key === "Tab" ? 9 : 13 });
};
const cdp = session;
session = undefined;
await send("Browser.grantPermissions", { permissions: ["clipboardReadWrite", "clipboardSanitizedWrite"] });
session = cdp;
for (let i = 0; i < seen.controls.length; i += 1) {
  await press("Tab");
  const name = await evaluate("document.activeElement.tagName");
  seen.reached.push(name);
  if (name === "BUTTON" && !seen.copied) {
    await press("Enter");
    await new Promise((resolve) => setTimeout(resolve, 300));
    seen.copied = await evaluate("navigator.clipboard.readText()");
  }
}
seen.pdf = Buffer.from((await send("Page.printToPDF", { printBackground: true })).data, "base64").length;
console.log(JSON.stringify(seen));
browser.removeAllListeners("exit");
await new Promise((resolve) => {
  browser.on("exit", resolve);
  browser.kill();
});
process.exit(0);
