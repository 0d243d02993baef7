"""Archives on a Ray cluster: ``winnow warc --ray`` as tasks, and the two passes over datasets of Ray Data.

``pip install 'scrapy-winnow[ray]'``, here and on every node.
"""
