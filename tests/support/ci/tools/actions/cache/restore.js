const cache = require("@actions/cache");
const core = require("@actions/core");

async function restore() {
    const key = core.getInput("key");
    const others = core.getMultilineInput("restore-keys");
    const found = await cache.restoreCache(core.getMultilineInput("path"), key, others);
    core.info(found ? `restored ${found}` : `there is no ${key}`);
    core.setOutput("cache-hit", String(found === key));
    core.saveState("found", found === key);
}

restore().catch(core.setFailed);
