"""One agency story that several hosts carry word for word inside their own templates."""
# ruff: noqa: E501, ISC004 - one sentence a line; lists of words read better as a string

STORY_ID = "skerry-light"
STORY_TITLE = "Keepers' logbooks found behind the wall of Skerry Light"
STORY_PARAGRAPHS = (
    "Forty-one logbooks written by the keepers of Skerry Light between 1861 and 1934 have been found behind a plaster "
    "wall during repairs to the lantern room, dry and perfectly legible after ninety years in the dark.",
    "Carpenters taking down a partition on the third floor noticed that the room behind it was shorter than the drawings "
    "allowed. A loose board gave way to a cupboard, and in the cupboard stood a row of ledgers wrapped in sailcloth, each "
    "with the year painted on its spine in white lead.",
    "The books record wind, oil, ships and visitors four times a day. They also record a great deal that the service never "
    "asked for: the hatching of eider ducks, the price of tobacco, the words of a song heard from a passing schooner, and, "
    "on eleven pages in the winter of 1894, a quarrel about a kettle.",
    "Marguerite Netherby, who looks after the maritime collection at Saltby, has read the first nine. She says the entries "
    "overturn the accepted account of the wreck of the barque Concordia, whose crew were thought to have rowed past the rock "
    "without seeing the light. According to the keeper on watch, the lamp burned all night and six men climbed the ladder at "
    "dawn, drank the whole of the week's coffee and were taken off by a herring boat.",
    "The volumes will be photographed page by page before anybody decides where they should live. Conservators have asked "
    "for patience: sailcloth, they point out, keeps the rain out and the mould in, and three of the bindings cannot be opened "
    "further than a hand's breadth without cracking.",
    "Descendants of two of the keepers have already come forward. One of them brought the kettle.",
)
