const { DefaultArtifactClient } = require("@actions/artifact");
const core = require("@actions/core");
const fs = require("fs");
const path = require("path");

async function upload() {
    const given = core.getInput("path");
    const isHidden = given.split("/").some((part) => part.startsWith("."));
    if (!fs.existsSync(given) || (isHidden && !core.getBooleanInput("include-hidden-files"))) {
        core.warning(`no file ${given}`);
        return;
    }
    const file = path.resolve(given);
    await new DefaultArtifactClient().uploadArtifact(core.getInput("name"), [file], path.dirname(file));
}

upload().catch(core.setFailed);
