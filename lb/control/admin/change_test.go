package admin_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"penstock/lb/control/admin"
	"penstock/lb/control/stage"
)

// Many change at once: none is lost, none is refused.
func TestChangesAtOnce(t *testing.T) {
	s, err := stage.New(place)
	if err != nil {
		t.Fatal(err)
	}
	h := admin.Handler(s, s)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				body := fmt.Sprintf(`{"address": "10.0.%d.%d:80", "pool": "app"}`, i+1, j+1)
				r := httptest.NewRequest("POST", "/v1/members", strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				if h.ServeHTTP(w, r); w.Code != 201 {
					t.Errorf("%d: %s", w.Code, w.Body)
				}
			}
		})
	}
	wg.Wait()
	if n := len(s.Config().Pools[0].Members); n != 2+8*20 {
		t.Errorf("%d members", n)
	}
}
