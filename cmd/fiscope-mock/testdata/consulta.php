<?php
// A billing team's own test, in PHP with curl.
//   fiscope-mock exec -- php consulta.php
function ask(string $path, ?array $body = null): array
{
    $c = curl_init(getenv('FISCOPE_BASE_URL') . $path);
    curl_setopt_array($c, [
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_HTTPHEADER => ['X-API-KEY: ' . getenv('FISCOPE_API_KEY'), 'Content-Type: application/json'],
    ]);
    if ($body !== null) {
        curl_setopt($c, CURLOPT_POSTFIELDS, json_encode($body));
    }
    $text = curl_exec($c);
    if ($text === false) {
        fwrite(STDERR, 'php: ' . curl_error($c) . "\n");
        exit(1);
    }
    return [curl_getinfo($c, CURLINFO_RESPONSE_CODE), json_decode($text, true)];
}

function check(bool $holds, string $what): void
{
    if (!$holds) {
        fwrite(STDERR, "php: $what\n");
        exit(1);
    }
}

[$status, $taxpayer] = ask('/api/contribuyentes/20131312955');
check($status === 200 && $taxpayer['ruc'] === '20131312955', 'lookup');
[, $found] = ask('/api/contribuyentes/search?' . http_build_query(['razonSocial' => 'supermercados peruanos']));
check($found[0]['ruc'] === '20100070970', 'search');
[, $receipt] = ask('/api/cpe/validar', [
    'rucEmisor' => '20100070970', 'tipoComprobante' => '01', 'serie' => 'F001', 'numero' => 123,
    'rucSolicitante' => '20131312955', 'usuarioSol' => 'MIUSER01', 'claveSol' => 'clave-mock-1',
]);
check($receipt['esValido'] === true, 'receipt');
[$status, $error] = ask('/api/contribuyentes/2013');
check($status === 400 && $error['code'] === 'INVALID_RUC', 'error');
echo "php: ok\n";
