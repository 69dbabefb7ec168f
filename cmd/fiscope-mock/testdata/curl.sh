#!/bin/sh
# A billing team's own test, with curl alone.
#   fiscope-mock exec -- sh curl.sh
set -eu
fail() { echo "curl: $1" >&2; exit 1; }
ask() { curl -sS -H "X-API-KEY: $FISCOPE_API_KEY" "$@"; }

ask "$FISCOPE_BASE_URL/api/contribuyentes/20131312955" | grep -q '"ruc":"20131312955"' || fail lookup
ask -G --data-urlencode 'razonSocial=LUZ DEL SUR' "$FISCOPE_BASE_URL/api/contribuyentes/search" | grep -q 20331898008 || fail search
ask "$FISCOPE_BASE_URL/api/cpe/validar" -H 'Content-Type: application/json' -d '{"rucEmisor": "20100070970",
  "tipoComprobante": "01", "serie": "F001", "numero": 124, "rucSolicitante": "20131312955",
  "usuarioSol": "MIUSER01", "claveSol": "clave-mock-1"}' | grep -q Anulado || fail receipt
ask "$FISCOPE_BASE_URL/api/tipocambio?fecha=2026-11-20x" | grep -q INVALID_DATE || fail date

curl -sSf -o /dev/null "$FISCOPE_BASE_URL/_mock/faults" -H 'Content-Type: application/json' \
  -d '{"match": {"op": "consultar", "times": 1}, "steps": [{"status": 503, "header": {"Retry-After": "0"}}]}'
ask -f --retry 2 "$FISCOPE_BASE_URL/api/contribuyentes/20131312955" 2>/dev/null | grep -q 20131312955 || fail retry
test "$(curl -sSf "$FISCOPE_BASE_URL/_mock/requests?op=consultar" | grep -c '"status"')" = 3 || fail journal
echo 'curl: ok'
