"""Words for the demo's texts: notes that three people might leave, written for the demo."""

# What only one of them writes about.
SUBJECTS = {
    "garden": (
        "the beans climb the new poles", "slugs ate the first lettuce", "compost is warm in the middle",
        "roses need cutting back", "the hedge has a nest in it",
        "rain filled both barrels", "seedlings are hardening off",
        "aphids on the broad beans", "the apple blossom is early", "dug over the far bed", "tomatoes want more sun",
        "mulched under the currants", "the lawn is mostly moss", "a frost took the courgettes",
    ),
    "harbour": (
        "the tide turned before noon", "two boats tied up at the north pier", "gulls followed the trawler in",
        "the crane is out of order", "fog until the second bell",
        "a rope parted on the slip", "the pilot came aboard late",
        "nets drying along the wall", "swell at the harbour mouth",
        "the buoy light flickers again", "ice loaded for the night crew",
        "a seal slept on the ramp", "anchor dragged in the squall", "the ferry left half empty",
    ),
    "workshop": (
        "the plane iron wants honing", "glue has not set in this cold", "three drawers fitted and waxed",
        "the lathe bearing sings", "oak boards came in wet",
        "a hinge snapped on the test lid", "chisels back from grinding",
        "dust bag full again", "the dovetails close up well",
        "varnish ran on the left door", "new belt on the sander",
        "the vice jaw slips", "patterns hung by the window", "a crack runs along the grain",
    ),
}  # fmt: skip
# What any of them may write.
SHARED = (
    "tea at four as ever", "somebody left the gate open", "the radio says wind from the west", "the cat was in again",
    "must buy string", "Anna called about Saturday", "cold hands all morning", "found the blue bucket", "a quiet day",
    "the light goes early now", "borrowed the long ladder", "more of the same tomorrow", "nothing broken so far",
)  # fmt: skip
NOTES = {
    "calm": ("clear morning", "on time at the quay", "quiet crossing", "sun and a light breeze", "few cars aboard"),
    "rough": ("fog at the mouth", "engine checked", "swell on the beam", "waited for the pilot", "lorries loaded late"),
}  # fmt: skip
NOUNS = ("boat", "gull", "sailor", "lamp", "rope", "child", "letter", "stone", "window", "dog")
VERBS = {"saw": "seen", "took": "taken", "found": "found", "lost": "lost", "drew": "drawn", "kept": "kept"}
PLACES = ("by the pier", "near the wall", "at night", "in the rain")
