import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;

/**
 * A billing team's own test, in Java 11 or later, without a build.
 *   fiscope-mock exec -- java Consulta.java
 */
public class Consulta {
    static final HttpClient CLIENT = HttpClient.newHttpClient();

    static HttpResponse<String> ask(String path, String body) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(System.getenv("FISCOPE_BASE_URL") + path))
            .header("X-API-KEY", System.getenv("FISCOPE_API_KEY"));
        if (body != null) {
            request.header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(body));
        }
        return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    static void check(boolean holds, String what) {
        if (!holds) throw new AssertionError(what);
    }

    public static void main(String[] args) throws Exception {
        HttpResponse<String> taxpayer = ask("/api/contribuyentes/20131312955", null);
        check(taxpayer.body().contains("\"ruc\":\"20131312955\""), taxpayer.body());
        check(taxpayer.headers().firstValue("X-RateLimit-Remaining").get().equals("999"), "quota");
        String name = URLEncoder.encode("supermercados peruanos", StandardCharsets.UTF_8);
        check(ask("/api/contribuyentes/search?razonSocial=" + name, null).body().contains("20100070970"), "search");
        check(ask("/api/cpe/validar", "{\"rucEmisor\": \"20100070970\", \"tipoComprobante\": \"01\", \"serie\": \"F001\","
            + "\"numero\": 123, \"rucSolicitante\": \"20131312955\", \"usuarioSol\": \"MIUSER01\","
            + "\"claveSol\": \"clave-mock-1\"}").body().contains("\"esValido\":true"), "receipt");
        check(ask("/api/contribuyentes/2013", null).statusCode() == 400, "error");
        System.out.println("java: ok");
    }
}
