package peers

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Read reads an answer as a careful program does: no more than a mebibyte, to its end, and only with status 200 as
// what was asked for. The caller closes it.
func Read(resp *http.Response, v any) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return json.Unmarshal(body, v)
}
