const cache = require("@actions/cache");
const core = require("@actions/core");

async function save() {
    if (core.getState("found") !== "true") {
        await cache.saveCache(core.getMultilineInput("path"), core.getInput("key"));
    }
}

save().catch(core.setFailed);
