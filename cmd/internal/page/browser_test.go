package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// browser returns the command line of a headless Chromium, or skips the test.
func browser(t *testing.T) []string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		args := []string{path, "--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-background-networking", "--disable-component-update",
			"--disable-dev-shm-usage", "--allow-file-access-from-files", "--enable-logging=stderr", "--user-data-dir=" + t.TempDir()}
		if os.Geteuid() == 0 {
			args = append(args, "--no-sandbox") // which root can't use
		}
		return args
	}
	t.Skip("no chromium and no google-chrome in $PATH: pages aren't tried in a browser")
	return nil
}

// harness shows each page in a frame of its own, as a window of its width and colour scheme would, and measures it.
const harness = `<!DOCTYPE html><meta charset="utf-8"><body><script>
const seen = [];
for (const f of FRAMES) {
  const frame = document.createElement('iframe');
  frame.src = f.page;
  frame.style = 'border:0;height:3000px;width:' + f.width + 'px;color-scheme:' + f.scheme;
  document.body.append(frame);
}
addEventListener('load', () => {
  document.querySelectorAll('iframe').forEach((frame, i) => {
    const d = frame.contentDocument, style = frame.contentWindow.getComputedStyle(d.body);
    const r = {...FRAMES[i], scroll: d.documentElement.scrollWidth, ground: style.backgroundColor, ink: style.color, strangers: d.querySelectorAll('img,script,iframe,object,link').length, sizes: [], outside: [], colours: {}};
    for (const text of d.querySelectorAll('figure > svg text')) {
      const size = parseFloat(frame.contentWindow.getComputedStyle(text).fontSize) * Math.abs(text.getScreenCTM().a || text.getScreenCTM().b);
      r.sizes.push(size);
      const box = text.getBoundingClientRect(), svg = text.ownerSVGElement.getBoundingClientRect();
      if (box.left < svg.left - 1 || box.right > svg.right + 1 || box.top < svg.top - 1 || box.bottom > svg.bottom + 1) r.outside.push(text.textContent);
    }
    for (const path of d.querySelectorAll('figure path')) {
      if ('#0072B2#D55E00#707070'.includes(path.getAttribute('stroke'))) r.colours[path.getAttribute('stroke')] = frame.contentWindow.getComputedStyle(path).stroke;
    }
    r.charts = d.querySelectorAll('figure').length;
    seen.push(r);
  });
  const out = document.createElement('pre');
  out.id = 'seen';
  out.textContent = JSON.stringify(seen);
  document.body.append(out);
});
</script>`

// A browserFrame is a page at a width and in a colour scheme, with the browser's measurements of it.
type browserFrame struct {
	Page   string `json:"page"`
	Width  int    `json:"width"`
	Scheme string `json:"scheme"`

	Scroll    int               `json:"scroll"` // width of the content
	Ground    string            `json:"ground"`
	Ink       string            `json:"ink"`
	Strangers int               `json:"strangers"` // elements foreign to our pages
	Sizes     []float64         `json:"sizes"`     // of the texts in charts, in pixels
	Outside   []string          `json:"outside"`   // texts that a chart cuts off
	Colours   map[string]string `json:"colours"`   // of curves and markers, by their colours in the picture
	Charts    int               `json:"charts"`
}

// show opens all frames in one browser and returns its measurements, and the lines of its console.
func shown(t *testing.T, frames []browserFrame) (seen []browserFrame, console []string) {
	t.Helper()
	command := browser(t)
	list, err := json.Marshal(frames)
	if err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(t.TempDir(), "harness.html")
	write(t, page, strings.ReplaceAll(harness, "FRAMES", string(list)))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], append(command[1:], "--dump-dom", "file://"+page)...)
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

// browserPages writes the pages of hostile, ordinary and several runs into a folder and returns their paths.
func browserPages(t *testing.T) map[string]string {
	t.Helper()
	bad := aRelease()
	bad.Model.Classes = []string{hostile, strings.Repeat("long", 100)}
	bad.Model.Dataset, bad.Model.Network = hostile, strings.Repeat("w", 300)
	bad.Privacy.Bound = strings.Repeat("bound", 100)
	dir := runFolder(t, strings.Repeat("n", 200), bad)
	out := map[string]string{}
	save := func(name, content string) {
		path := filepath.Join(t.TempDir(), name+".html")
		write(t, path, content)
		out[name] = path
	}
	public, private := pages(t, dir)
	save("hostile", public)
	save("hostile private", private)
	public, private = pages(t, runFolder(t, "run", aRelease()))
	save("public", public)
	save("private", private)
	other := aRelease()
	other.Privacy.Epsilon, other.Score.Value, other.Hyperparameters.LearningRate = 1, 0.9, 0.1
	runs := []Run{mustOpen(t, dir), mustOpen(t, runFolder(t, "a", other)), mustOpen(t, runFolder(t, "b", other))}
	several, err := Public(runs, []Accounting{madeUp(), madeUp(), {Missing: hostile}})
	if err != nil {
		t.Fatal(err)
	}
	save("several", string(several))
	return out
}

// Pages fit a telephone and a screen, follow the colour scheme with their charts, run nothing, and load nothing. The
// only line on the console is from a page with our policy and a picture.
func TestInABrowser(t *testing.T) {
	paths := browserPages(t)
	control := filepath.Join(t.TempDir(), "control.html")
	write(t, control, `<!DOCTYPE html><meta http-equiv="Content-Security-Policy" content="`+policy()+`"><body><img src="control.png">`)
	frames := []browserFrame{{Page: "file://" + control, Width: 400, Scheme: "light"}}
	for _, path := range paths {
		for _, width := range []int{320, 400, 1000, 1400} {
			for _, scheme := range []string{"light", "dark"} {
				frames = append(frames, browserFrame{Page: "file://" + path, Width: width, Scheme: scheme})
			}
		}
	}
	seen, console := shown(t, frames)
	if len(console) != 1 || !strings.Contains(console[0], "control.png") {
		t.Errorf("the browser complains:\n%s", strings.Join(console, ""))
	}
	for _, f := range seen[1:] {
		name := fmt.Sprintf("%s at %d pixels, %s", filepath.Base(f.Page), f.Width, f.Scheme)
		if f.Scroll > f.Width {
			t.Errorf("%s is %d pixels wide", name, f.Scroll)
		}
		want := map[string][2]string{"light": {"rgb(255, 254, 251)", "rgb(27, 29, 31)"}, "dark": {"rgb(21, 24, 27)", "rgb(231, 228, 220)"}}[f.Scheme]
		if f.Ground != want[0] || f.Ink != want[1] {
			t.Errorf("%s: %s on %s", name, f.Ink, f.Ground)
		}
		if f.Strangers != 0 {
			t.Errorf("%s: %d elements that shouldn't be there", name, f.Strangers)
		}
		for _, size := range f.Sizes {
			if size < 9 {
				t.Errorf("%s: text of %.1f pixels in a chart", name, size)
				break
			}
		}
		if len(f.Outside) > 0 {
			t.Errorf("%s: cut off %q", name, f.Outside)
		}
		if filepath.Base(f.Page) == "public.html" {
			want := map[string]map[string]string{
				"light": {"#0072B2": "rgb(0, 114, 178)", "#D55E00": "rgb(213, 94, 0)"},
				"dark":  {"#0072B2": "rgb(93, 182, 236)", "#D55E00": "rgb(255, 157, 84)"},
			}[f.Scheme]
			if f.Charts != 1 || !maps.Equal(f.Colours, want) {
				t.Errorf("%s: %d charts with colours %v, want 1 with %v", name, f.Charts, f.Colours, want)
			}
		}
	}
}
