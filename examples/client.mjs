// Asks a server for experiments and tells their results, until the verdict is in. Needs Node 18 or newer, and a server:
//   satisfice new --storage lab.db --name demo --target 0.99 --noise 0 --param x=0.0:1.0 --param y=0.0:1.0
//   SATISFICE_TOKEN=choose-a-long-secret satisfice serve --storage lab.db
import { randomUUID } from "node:crypto";

const study = `${process.env.SATISFICE_URL ?? "http://127.0.0.1:8765"}/api/studies/${encodeURIComponent(process.argv[2] ?? "demo")}`;

async function call(path, body) {
  const headers = { Authorization: `Bearer ${process.env.SATISFICE_TOKEN}`, "Content-Type": "application/json" };
  if (body) headers["Idempotency-Key"] = randomUUID(); // sent again with the same key, it counts once
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await fetch(study + path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body) });
      const found = await answer.json();
      if (answer.ok) return found;
      if (answer.status !== 503 && answer.status !== 429) throw new Error(found.error.message, { cause: "refused" });
    } catch (problem) {
      if (attempt === 5 || problem.cause === "refused") throw problem;
    }
    await new Promise((resolve) => setTimeout(resolve, 500 * attempt));
  }
}

let verdict = "open";
for (let round = 0; verdict === "open" && round < 30; round++) {
  const { asked } = await call("/ask", { n: 2, by: "JavaScript" });
  await Promise.all(asked.map(async ({ number, params: { x, y } }) => {
    const value = 1 - (x - 0.3) ** 2 - (y - 0.6) ** 2; // your experiment comes here
    await call("/tell", { number, values: { value } });
    console.log(`experiment ${number}: x = ${x}, y = ${y} gives ${value}`);
  }));
  ({ verdict } = await call(""));
}
console.log(`verdict ${verdict}`);
