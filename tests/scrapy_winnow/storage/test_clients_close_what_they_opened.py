import time

from redis import Redis

from scrapy_winnow.storage.clients import blocking_client


def test_nothing_of_a_clusters_client_is_left_open(cluster_url, cluster_servers):
    with blocking_client(cluster_url, client_name="closed-by-now") as client:
        for number in range(20):
            client.set(f"key-{number}", number)
        assert _named_connections(cluster_servers) == len(cluster_servers)
    deadline = time.monotonic() + 60
    while _named_connections(cluster_servers):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _named_connections(servers):
    found = 0
    for server in servers:
        with Redis(port=server.port) as client:
            found += sum(each["name"] == "closed-by-now" for each in client.client_list())
    return found
