package paper

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/page/sheet"
)

// measure shows each page in a frame of its own, as a window of its width and colour scheme would, and measures it.
const measure = `<!DOCTYPE html><meta charset="utf-8"><body><script>
const seen = [];
for (const f of FRAMES) {
  const frame = document.createElement('iframe');
  frame.src = f.page;
  frame.style = 'border:0;height:3000px;width:' + f.width + 'px;color-scheme:' + f.scheme;
  document.body.append(frame);
}
addEventListener('load', () => {
  document.querySelectorAll('iframe').forEach((frame, i) => {
    const d = frame.contentDocument, w = frame.contentWindow;
    d.querySelectorAll('details').forEach(e => e.open = true);
    const r = {...FRAMES[i], scroll: d.documentElement.scrollWidth, ground: w.getComputedStyle(d.body).backgroundColor, strangers: d.querySelectorAll('img,script,iframe,object,link').length, panels: 0, hidden: [], outside: [], smallest: 1e9, colours: []};
    const colours = new Set();
    for (const svg of d.querySelectorAll('.plot svg')) {
      const box = svg.getBoundingClientRect(), panel = svg.parentElement.matches('.panels');
      r.panels += panel;
      if (box.width < 110 || box.height < (panel ? 90 : 8) || box.right > f_right(d) + 1) r.hidden.push(svg.getAttribute('aria-label') + ': ' + box.width + ' by ' + box.height);
      for (const text of svg.querySelectorAll('text')) {
        const t = text.getBoundingClientRect();
        if (t.left < box.left - 1.5 || t.right > box.right + 1.5 || t.top < box.top - 2 || t.bottom > box.bottom + 2) r.outside.push(text.textContent + ' in ' + svg.getAttribute('aria-label'));
        r.smallest = Math.min(r.smallest, parseFloat(w.getComputedStyle(text).fontSize) * Math.abs(text.getScreenCTM().a || text.getScreenCTM().b));
      }
      for (const path of svg.querySelectorAll('path')) {
        const s = w.getComputedStyle(path);
        if (s.stroke !== 'none' && '#0072B2#D55E00#707070'.includes(path.getAttribute('stroke'))) colours.add(path.getAttribute('stroke') + ' ' + s.stroke);
      }
    }
    r.colours = [...colours].sort();
    seen.push(r);
  });
  const out = document.createElement('pre');
  out.id = 'seen';
  out.textContent = JSON.stringify(seen);
  document.body.append(out);
});
function f_right(d) { return d.documentElement.clientWidth; }
</script>`

// frame is a page at a width and in a colour scheme, and the browser's measurements of it.
type frame struct {
	Page   string `json:"page"`
	Width  int    `json:"width"`
	Scheme string `json:"scheme"`

	Scroll    int      `json:"scroll"` // width of the content
	Ground    string   `json:"ground"`
	Strangers int      `json:"strangers"` // elements that no page has
	Panels    int      `json:"panels"`
	Hidden    []string `json:"hidden"`   // pictures that are too small to see, or outside the page
	Outside   []string `json:"outside"`  // texts that a picture cuts off
	Smallest  float64  `json:"smallest"` // text, in pixels
	Colours   []string `json:"colours"`  // of curves
}

// Pages fit into a telephone and a screen, show all pictures with all their texts, follow the colour scheme, load
// nothing, and leave one line on the console, as does any page with the same policy and a picture.
func TestInABrowser(t *testing.T) {
	in := small()
	in.Figures = append(in.Figures, Figures()[5]) // three columns
	in.Results = invent(in.Figures, in.Selection, nil)[:70]
	in.Program = strings.Repeat("a very long name", 20)
	in.Quick = "5 % of everything"
	dir := t.TempDir()
	paths := map[string]string{"page": pageOf(t, in)}
	in.Results = nil
	paths["no runs"] = pageOf(t, in)
	control := `<!DOCTYPE html><meta http-equiv="Content-Security-Policy" content="` + sheet.Policy(style) + `"><body><img src="control.png">`
	write := func(name, content string) string {
		path := filepath.Join(dir, name+".html")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return "file://" + path
	}
	frames := []frame{{Page: write("control", control), Width: 400, Scheme: "light"}}
	for name, content := range paths {
		page := write(name, content)
		for _, width := range []int{320, 400, 1200} {
			for _, scheme := range []string{"light", "dark"} {
				frames = append(frames, frame{Page: page, Width: width, Scheme: scheme})
			}
		}
	}
	seen, console := shown(t, frames)
	if len(console) != 1 || !strings.Contains(console[0], "control.png") {
		t.Errorf("the browser complains:\n%s", strings.Join(console, ""))
	}
	panels := 2 + 2 + 2 + 2*4 + 2*3
	for _, f := range seen[1:] {
		name := fmt.Sprintf("%s at %d pixels, %s", filepath.Base(f.Page), f.Width, f.Scheme)
		if f.Scroll > f.Width {
			t.Errorf("%s is %d pixels wide", name, f.Scroll)
		}
		if want := map[string]string{"light": "rgb(255, 254, 251)", "dark": "rgb(21, 24, 27)"}[f.Scheme]; f.Ground != want {
			t.Errorf("%s: the ground is %s", name, f.Ground)
		}
		if f.Strangers != 0 || f.Panels != panels {
			t.Errorf("%s: %d panels, want %d; %d elements that shouldn't be there", name, f.Panels, panels, f.Strangers)
		}
		if len(f.Hidden) > 0 || len(f.Outside) > 0 {
			t.Errorf("%s: hidden %q, cut off %q", name, f.Hidden, f.Outside)
		}
		if f.Smallest < 8 {
			t.Errorf("%s: text of %.1f pixels", name, f.Smallest)
		}
		looks := map[string]bool{}
		for _, c := range f.Colours {
			class, colour, _ := strings.Cut(c, " ")
			looks[colour] = true
			_ = class
		}
		if len(looks) != len(f.Colours) {
			t.Errorf("%s: colours %q", name, f.Colours)
		}
	}
}

// show opens all frames in one browser and returns its measurements and the lines of its console. Without a browser it
// skips the test.
func shown(t *testing.T, frames []frame) (seen []frame, console []string) {
	t.Helper()
	var command []string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			command = []string{path, "--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-background-networking", "--disable-component-update",
				"--disable-dev-shm-usage", "--allow-file-access-from-files", "--enable-logging=stderr", "--user-data-dir=" + t.TempDir()}
			break
		}
	}
	if command == nil {
		t.Skip("no chromium and no google-chrome in $PATH: pages aren't tried in a browser")
	}
	if os.Geteuid() == 0 {
		command = append(command, "--no-sandbox") // which root can't have
	}
	list, err := json.Marshal(frames)
	if err != nil {
		t.Fatal(err)
	}
	harness := filepath.Join(t.TempDir(), "harness.html")
	if err := os.WriteFile(harness, []byte(strings.ReplaceAll(measure, "FRAMES", string(list))), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], append(command[1:], "--dump-dom", "file://"+harness)...)
	var log bytes.Buffer
	cmd.Stderr = &log
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	_, text, found := strings.Cut(string(dom), `<pre id="seen">`)
	text, _, _ = strings.Cut(text, "</pre>")
	if err := json.Unmarshal([]byte(html.UnescapeString(text)), &seen); !found || err != nil || len(seen) != len(frames) {
		t.Fatalf("%d of %d frames, %v\n%s\n%s", len(seen), len(frames), err, dom, log.String())
	}
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "CONSOLE") {
			console = append(console, line)
		}
	}
	return seen, console
}
