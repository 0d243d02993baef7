import asyncio
import datetime
import ipaddress
import ssl
from contextlib import asynccontextmanager

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from scrapy_winnow.storage.connection import Connection


@pytest.fixture
def certificate(tmp_path):
    """A self-signed certificate for 127.0.0.1 with its key, in one PEM file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "winnow test")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "server.pem"
    pem = serialization.Encoding.PEM
    file.write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + certificate.public_bytes(pem)
    )
    return file


@asynccontextmanager
async def _tunnel(certificate, port):
    """Terminate TLS in front of a server, as a managed Redis does; ends with the last of those that came."""
    passing_on = set()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)

    async def pump(reader, writer):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def serve(reader, writer):
        passing_on.add(asyncio.current_task())
        upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pump(reader, upstream_writer), pump(upstream_reader, writer))
        await asyncio.gather(*(each.wait_closed() for each in (upstream_writer, writer)), return_exceptions=True)

    async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context) as server:
        yield server
        await asyncio.gather(*passing_on)


async def test_rediss_with_user_and_password_works_and_an_unknown_certificate_is_refused(tcp_server, certificate):
    server = tcp_server("--user", "counter", "on", ">secret", "~*", "+@all")
    async with _tunnel(certificate, server.port) as tunnel:
        url = f"rediss://counter:secret@127.0.0.1:{tunnel.sockets[0].getsockname()[1]}"
        trusting = Connection(f"{url}?ssl_ca_certs={certificate}", timeout=20)
        assert await trusting.ping()
        await trusting.close()
        doubting = Connection(url, timeout=20)
        assert not await doubting.ping()
        await doubting.close()
