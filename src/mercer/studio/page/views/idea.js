export class IdeaView { constructor(stage) { stage.textContent = "soon"; } }
