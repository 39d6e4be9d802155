package cluster

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// serveIn names a folder: the test binary is a server then, until its standard input ends.
const serveIn = "DPTRAIN_TEST_CLUSTER"

func TestMain(m *testing.M) {
	dir := os.Getenv(serveIn)
	if dir == "" {
		scatter = 100 * time.Millisecond   // tests wait for it
		_ = flag.Set("test.parallel", "8") // tests wait more than they compute; -parallel of the command line wins
		os.Exit(m.Run())
	}
	s, err := Embed(dir, "127.0.0.1:0", "")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	if s.Close() != nil {
		os.Exit(1)
	}
}

// process is a server in a process of its own.
type process struct {
	dir     string
	command *exec.Cmd
	input   io.Closer
}

func (p *process) start() error {
	p.command = exec.Command(os.Args[0])
	p.command.Env = append(os.Environ(), serveIn+"="+p.dir)
	var err error
	if p.input, err = p.command.StdinPipe(); err != nil {
		return err
	}
	output, err := p.command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.command.Start(); err != nil {
		return err
	}
	if line, err := bufio.NewReader(output).ReadString('\n'); line != "ready\n" {
		return fmt.Errorf("server: %q, %w", line, err)
	}
	return nil
}

// stop ends the server by itself, or by SIGKILL.
func (p *process) stop(hard bool) {
	if hard {
		_ = p.command.Process.Kill()
	}
	_ = p.input.Close()
	_ = p.command.Wait() // by a signal
}

// proxied starts a server in a process and a proxy before it, and returns the file to connect by the proxy.
func proxied(t testing.TB) (*process, *proxy, File) {
	t.Helper()
	server := &process{dir: t.TempDir()}
	if err := server.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.stop(true) })
	f, err := ReadFile(filepath.Join(server.dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(f.URL)
	if err != nil {
		t.Fatal(err)
	}
	p := newProxy(t, u.Host)
	f.URL = "tls://" + p.Addr().String()
	return server, p, f
}

// proxy forwards connections until they are cut.
type proxy struct {
	net.Listener
	to      string
	running sync.WaitGroup

	mu   sync.Mutex
	down bool
	open map[net.Conn]bool
	draw *rand.Rand
}

func newProxy(t testing.TB, to string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{Listener: l, to: to, open: map[net.Conn]bool{}, draw: rand.New(rand.NewPCG(*manySeed, 0))}
	p.running.Go(p.serve)
	t.Cleanup(p.end)
	return p
}

func (p *proxy) end() {
	_ = p.Close()
	p.cut(1)
	p.running.Wait()
}

func (p *proxy) serve() {
	for {
		in, err := p.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", p.to)
		if err != nil {
			_ = in.Close()
			continue
		}
		p.mu.Lock()
		if p.down {
			_, _ = in.Close(), out.Close()
		} else {
			p.open[in], p.open[out] = true, true
		}
		late := p.draw.IntN(4) == 0
		p.mu.Unlock()
		p.running.Go(func() { p.forward(in, out, late) })
		p.running.Go(func() { p.forward(out, in, late) })
	}
}

func (p *proxy) forward(to, from net.Conn, late bool) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if late {
			time.Sleep(time.Millisecond)
		}
		if _, err2 := to.Write(buffer[:n]); err != nil || err2 != nil {
			break
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, from)
	_, _ = to.Close(), from.Close()
}

// cut cuts a share of the connections.
func (p *proxy) cut(share float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		if p.draw.Float64() < share {
			_ = c.Close()
		}
	}
}

// outage cuts all connections, and accepts none for a while.
func (p *proxy) outage(lasts time.Duration) {
	p.set(true)
	p.cut(1)
	time.Sleep(lasts)
	p.set(false)
}

func (p *proxy) set(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
}

// A worker that ends without jobs also ends if the server is gone for good, such as with its coordinator. It doesn't
// end while the server is away for a moment.
func TestIdleWithoutAServer(t *testing.T) {
	t.Parallel()
	server, _, file := proxied(t)
	conn := connectedWith(t, file, hasty)
	looks := make(chan struct{}, 1000)
	ended := make(chan error, 1)
	go func() {
		_, err := conn.Serve(t.Context(), quietly(Worker{
			Build: here, Lanes: []string{"lane"}, GroupSize: 1, Idle: 3 * time.Second, Working: func([]Job, float64) { looks <- struct{}{} },
		}), nil)
		ended <- err
	}()
	<-looks
	time.Sleep(2 * time.Second)
	server.stop(true)
	time.Sleep(1500 * time.Millisecond) // without the time away it would be idle for long enough
	select {
	case err := <-ended:
		t.Errorf("it ended while the server was away: %v", err)
	default:
	}
	if err := server.start(); err != nil {
		t.Fatal(err)
	}
	until(t, "it is connected again", conn.nats.IsConnected)
	server.stop(true)
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(hang):
		t.Error("the worker waits")
	}
}

// The rights in nats.conf are enough. A missing right is an error that says so, although the server never answers the
// request.
func TestRights(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/cluster/nats.conf")
	if err != nil {
		t.Fatal(err)
	}
	rights := func(what string) *server.SubjectPermission {
		list := regexp.MustCompile(what + `: \[ (.*) \]`).FindSubmatch(text)
		return &server.SubjectPermission{Allow: strings.Split(strings.ReplaceAll(string(list[1]), `"`, ""), ", ")}
	}
	good := server.Permissions{Publish: rights("publish"), Subscribe: rights("subscribe")}
	deny := func(subject string) server.Permissions {
		return server.Permissions{Publish: &server.SubjectPermission{Deny: []string{subject}}}
	}
	noStreams, noConsumers := deny("$JS.API.STREAM.CREATE.>"), deny("$JS.API.CONSUMER.CREATE.>")
	for _, p := range []*server.Permissions{&good, &noStreams, &noConsumers} {
		f, public, err := NewFile("nats://127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		s, err := server.NewServer(&server.Options{
			Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true, JetStream: true, StoreDir: t.TempDir(),
			Nkeys: []*server.NkeyUser{{Nkey: public, Permissions: p}},
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		defer s.Shutdown()
		if !s.ReadyForConnections(hang) {
			t.Fatal("no server")
		}
		f.URL = s.ClientURL()
		conn, err := connectWith(t.Context(), f, "test", unseen, hasty)
		if p == &noStreams {
			if !errors.Is(err, nats.ErrPermissionViolation) {
				t.Error(err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		played := &fixture{t: t, timing: hasty, server: &Server{File: f}}
		played.board = played.newBoard("campaign")
		if p == &noConsumers {
			soon, cancel := context.WithTimeout(t.Context(), hang)
			defer cancel()
			_, errBoard := played.board.Next(soon)
			_, errWorker := conn.Serve(soon, quietly(Worker{Build: here, Lanes: []string{"mnist"}, GroupSize: 1, Idle: -1}), &hasher{})
			if !errors.Is(errBoard, nats.ErrPermissionViolation) || !errors.Is(errWorker, nats.ErrPermissionViolation) {
				t.Errorf("coordinator: %v, worker: %v", errBoard, errWorker)
			}
			continue
		}
		played.post(1)
		played.worker(sized{2 << 20}, Worker{})
		played.done(played.next().ID)
		if err := played.board.Remove(t.Context()); err != nil {
			t.Error(err)
		}
		if status, err := conn.Status(t.Context()); err != nil || len(status.Workers) != 1 {
			t.Errorf("%+v, %v", status, err)
		}
		if err := conn.denied.Load(); err != nil {
			t.Error(*err)
		}
		if err := played.board.conn.denied.Load(); err != nil {
			t.Error(*err)
		}
	}
}
