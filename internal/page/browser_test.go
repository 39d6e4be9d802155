package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
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
			args = append(args, "--no-sandbox") // which root can't have
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
    const r = {...FRAMES[i], scroll: d.documentElement.scrollWidth, ground: style.backgroundColor, ink: style.color, strangers: d.querySelectorAll('img,script,iframe,object,link').length, sizes: [], outside: [], covered: [], charts: []};
    for (const text of d.querySelectorAll('figure > svg text')) {
      const size = parseFloat(frame.contentWindow.getComputedStyle(text).fontSize) * text.getScreenCTM().a;
      r.sizes.push(size);
      const box = text.getBoundingClientRect(), svg = text.ownerSVGElement.getBoundingClientRect();
      if (box.left < svg.left - 1 || box.right > svg.right + 1 || box.top < svg.top - 1 || box.bottom > svg.bottom + 1) r.outside.push(text.textContent);
    }
    for (const svg of d.querySelectorAll('figure > svg')) {
      const names = [...svg.querySelectorAll('.name')].map(n => [n.textContent, n.getBoundingClientRect()]);
      names.forEach(([a, p], i) => names.slice(i + 1).forEach(([b, q]) => {
        if (Math.min(p.right, q.right) - Math.max(p.left, q.left) > 1 && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 4) r.covered.push(a + ' / ' + b);
      }));
      const ticks = g => [...svg.querySelectorAll(g + ' text')].map(t => ({text: t.textContent, x: +t.getAttribute('x'), y: +t.getAttribute('y')}));
      const curves = [...svg.querySelectorAll('.curve')].map(c => {
        const end = c.getPointAtLength(c.getTotalLength()), s = frame.contentWindow.getComputedStyle(c);
        return {class: c.getAttribute('class'), x: end.x, y: end.y, stroke: s.stroke, dash: s.strokeDasharray};
      });
      r.charts.push({id: svg.id, name: svg.querySelector('title').textContent, x: ticks('.x.ticks'), y: ticks('.y.ticks'), curves});
    }
    seen.push(r);
  });
  const out = document.createElement('pre');
  out.id = 'seen';
  out.textContent = JSON.stringify(seen);
  document.body.append(out);
});
</script>`

// A frame is a page at a width and in a colour scheme, and what the browser made of it.
type browserFrame struct {
	Page   string `json:"page"`
	Width  int    `json:"width"`
	Scheme string `json:"scheme"`

	Scroll    int            `json:"scroll"` // width of the content
	Ground    string         `json:"ground"`
	Ink       string         `json:"ink"`
	Strangers int            `json:"strangers"` // elements that no page has
	Sizes     []float64      `json:"sizes"`     // of the texts in charts, in pixels
	Outside   []string       `json:"outside"`   // texts that a chart cuts off
	Covered   []string       `json:"covered"`   // names that cover each other
	Charts    []browserChart `json:"charts"`
}

type browserChart struct {
	ID, Name string
	X, Y     []browserTick
	Curves   []browserCurve
}

type browserTick struct {
	Text string
	X, Y float64
}

type browserCurve struct {
	Class, Stroke, Dash string
	X, Y                float64
}

// show opens all frames in one browser and returns what it made of them, and the lines of its console.
func show(t *testing.T, frames []browserFrame) (seen []browserFrame, console []string) {
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
	bad := release()
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
	public, private = pages(t, runFolder(t, "run", release()))
	save("public", public)
	save("private", private)
	other := release()
	other.Privacy.Epsilon, other.Score.Value, other.Hyperparameters.LearningRate = 1, 0.9, 0.1
	runs := []Run{mustOpen(t, dir), mustOpen(t, runFolder(t, "a", other)), mustOpen(t, runFolder(t, "b", other))}
	several, err := Public(runs, []Accounting{madeUp(), madeUp(), {Missing: hostile}})
	if err != nil {
		t.Fatal(err)
	}
	save("several", string(several))
	return out
}

// Pages fit into a telephone and a screen, follow the colour scheme, run nothing, load nothing, and have curves that
// end where their numbers do. The one line on the console is that of a page with the policy of ours and a picture.
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
	seen, console := show(t, frames)
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
		if len(f.Outside) > 0 || len(f.Covered) > 0 {
			t.Errorf("%s: cut off %q, covered %q", name, f.Outside, f.Covered)
		}
		if filepath.Base(f.Page) == "public.html" {
			f.checkCurves(t, name)
		}
	}
}

// checkCurves reads the ends of the made-up curves off the axes: 1.25, 2.5 and 3 at delta 0.01; 6.75, 8.5 and 9.25 at
// 3756 steps.
func (f browserFrame) checkCurves(t *testing.T, name string) {
	if len(f.Charts) != 2 {
		t.Fatalf("%s: %d charts", name, len(f.Charts))
	}
	for i, c := range f.Charts {
		x := map[int]float64{0: math.Log10(0.01), 1: 3756}[i]
		want := []map[string]float64{{"best": 1.25, "tight": 2.5, "paper": 3}, {"best": 6.75, "tight": 8.5, "paper": 9.25}}[i]
		looks := map[string]bool{}
		for _, k := range c.Curves {
			class := strings.TrimPrefix(k.Class, "curve ")
			gotX := read(t, c.X, i == 0, k.X, func(k browserTick) float64 { return k.X })
			gotY := read(t, c.Y, false, k.Y, func(k browserTick) float64 { return k.Y })
			if math.Abs(gotX-x) > 0.002*math.Abs(x) || math.Abs(gotY-want[class]) > 0.01 {
				t.Errorf("%s, %s: %s ends at %v, %v, want %v, %v", name, c.Name, class, gotX, gotY, x, want[class])
			}
			looks[k.Dash+k.Stroke] = true
		}
		if len(c.Curves) != 3 || len(looks) != 3 {
			t.Errorf("%s, %s: %d curves of %d looks", name, c.Name, len(c.Curves), len(looks))
		}
	}
}

// read returns the value at a position of an axis, by its first and last tick. Of a logarithmic one it is the exponent.
func read(t *testing.T, ticks []browserTick, log bool, at float64, position func(browserTick) float64) float64 {
	t.Helper()
	first, last := ticks[0], ticks[len(ticks)-1]
	value := func(k browserTick) float64 {
		v, err := strconv.ParseFloat(raised.ReplaceAllStringFunc(k.Text, func(s string) string {
			return "1e" + strings.NewReplacer("10", "", "⁻", "-", "⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9").Replace(s)
		}), 64)
		if err != nil {
			t.Fatal(err)
		}
		if log {
			return math.Log10(v)
		}
		return v
	}
	u := (at - position(first)) / (position(last) - position(first))
	return value(first) + u*(value(last)-value(first))
}

var raised = regexp.MustCompile("10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")
