# A billing team's own test, in Python 3 with its standard library; with requests it is the same.
#   fiscope-mock exec -- python3 consulta.py
import json, os
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

BASE = os.environ["FISCOPE_BASE_URL"]
KEY = {"X-API-KEY": os.environ["FISCOPE_API_KEY"]}


def ask(path, body=None, headers=KEY):
    data = json.dumps(body).encode() if body else None
    request = Request(BASE + path, data, {**headers, "Content-Type": "application/json"})
    with urlopen(request) as answer:
        text = answer.read()
        return json.loads(text) if text else None, answer.headers


taxpayer, headers = ask("/api/contribuyentes/20131312955")
assert taxpayer["ruc"] == "20131312955" and headers["X-RateLimit-Remaining"] == "999"
found, _ = ask("/api/contribuyentes/search?" + urlencode({"razonSocial": "supermercados peruanos"}))
assert found[0]["ruc"] == "20100070970", found
receipt, _ = ask("/api/cpe/validar", {
    "rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "numero": 123,
    "rucSolicitante": "20131312955", "usuarioSol": "MIUSER01", "claveSol": "clave-mock-1"})
assert receipt["esValido"] is True, receipt

# The next lookup fails once.
ask("/_mock/faults", {"match": {"op": "consultar", "times": 1}, "steps": [{"status": 503}]}, {})
try:
    ask("/api/contribuyentes/20131312955")
    raise AssertionError("no failure")
except HTTPError as failed:
    assert failed.code == 503
assert ask("/api/contribuyentes/20131312955")[0]["ruc"] == "20131312955"
assert len(ask("/_mock/requests?op=consultar", headers={})[0]["requests"]) == 3
print("python: ok")
