const { DefaultArtifactClient } = require("@actions/artifact");
const core = require("@actions/core");
const path = require("path");

async function download() {
    const client = new DefaultArtifactClient();
    const beginning = core.getInput("pattern").replace(/\*$/, "");
    const { artifacts } = await client.listArtifacts({ latest: true });
    for (const { id, name } of artifacts.filter(({ name }) => name.startsWith(beginning))) {
        await client.downloadArtifact(id, { path: path.join(core.getInput("path"), name) });
    }
}

download().catch(core.setFailed);
