export class DataView { constructor(stage) { stage.textContent = "soon"; } }
