package flags

import "testing"

func TestStoreDir(t *testing.T) {
	t.Setenv(StoreVariable, "")
	if got := (Store{}).Dir(); got != "runs" {
		t.Errorf("%s, want runs", got)
	}
	t.Setenv(StoreVariable, "elsewhere")
	if (Store{}).Dir() != "elsewhere" || (Store{"given"}).Dir() != "given" {
		t.Errorf("%s and %s", (Store{}).Dir(), (Store{"given"}).Dir())
	}
}
