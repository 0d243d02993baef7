"""Names every genre draws on."""
# ruff: noqa: E501, SIM905 - one sentence a line; lists of words read better as a string

NAMES = {
    "first": (
        "Alma Bram Cecily Dorian Edda Farouk Greta Hamish Ines Jonah Katya Lorcan Mireille Nadim Odile Piers Quentin "
        "Rosalind Stellan Tamsin Ulrich Verity Wanda Xavier Yusuf Zelda Agnes Bashir Clodagh Dmitri Esme Fintan Gwen "
        "Hollis Imogen Jasper Keziah Leopold Marguerite Niall Oriel Philippa Ruaridh Saskia Thaddeus Una Viggo Winifred"
    ).split(),
    "last": (
        "Abernathy Bellweather Crowhurst Dunmore Eastlake Farthing Gallowglass Haverstock Ingleby Jessamine Kilbride "
        "Larkspur Merriweather Netherby Oakshott Penhallow Quillfeather Ravensworth Sedgwick Tolliver Underhill "
        "Vanterpool Wetherby Yardley Zimmermann Ashdown Birtwhistle Culpepper Drummond Everleigh Foxcroft Greenhalgh "
        "Hathersage Ironside Jellicoe Kettlewell Lockhart Mossley Nankivell Osgood Pemberton Rookwood Strand Thistlewood"
    ).split(),
    "place": (
        "Westmarch|Saltby|Fennimore|Gull Point|Marsh Lane|Kestrel Hill|Ropewalk|Candle Street|Old Quay|Thornaby Green|"
        "Mill Bank|Larkrise|Cutler's Row|Priory Meadow|Tanyard|Ferry Road|Lower Wick|Eastgate|Harrow Down|Pilot's Reach|"
        "Beacon Fell|Wharfside|Long Acre|Cooper's Yard|St Brannock|Netherfield|Skerry Bay|Alder Brook|Weaver's Cross"
    ).split("|"),
    "person": ["[first] [last]"],
    "surname": ["[last]"],
    "weekday": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
    "month": ("January February March April May June July August September October November December".split()),
    "season": ["spring", "summer", "autumn", "winter"],
    "few": ["two", "three", "four", "five", "half a dozen", "seven"],
}
