"""A cluster that speaks TLS alone, with certificates made for this test."""

import datetime as dt
import ipaddress

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from distributed.security import Security

from mercer import ClusterError, distributed
from mercer.distributed import connection
from tests.distributed.conftest import local_cluster
from tests.distributed.rows_of_files import bits_of, fit


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """(authority, certificate, key) as files."""
    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mercer test")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return str(folder / "certificate.pem"), str(folder / "key.pem")


def security_of(certificate, key):
    roles = ("client", "scheduler", "worker")
    names = {f"tls_{role}_{part}": path for role in roles for part, path in (("cert", certificate), ("key", key))}
    return Security(tls_ca_file=certificate, require_encryption=True, **names)


def test_a_fit_over_tls_has_the_same_bits_and_nobody_comes_in_without(rows, certificates, monkeypatch):
    path, y, alone = rows
    security = security_of(*certificates)
    with local_cluster(2, protocol="tls", security=security, host="127.0.0.1") as cluster:
        address = cluster.scheduler_address
        assert address.startswith("tls://")
        with distributed.cluster(address, security=security):
            assert bits_of(fit(path, y)) == alone
        monkeypatch.setattr(connection, "CONNECT", 2.0)
        with (
            pytest.raises(ClusterError, match="check the address, the port and the certificates"),
            distributed.cluster(address),
        ):
            pass
