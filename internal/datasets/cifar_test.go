package datasets

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/long"
)

const cifarRecord = 1 + cifarImage

// tinyCIFAR has two records in each file, whose pixels and labels identify them.
var tinyCIFAR = cifar{batch: 2}

func tinyCIFARFiles() map[string]string {
	files := map[string]string{}
	for f, name := range cifarFiles {
		var b bytes.Buffer
		for r := range tinyCIFAR.batch {
			b.WriteByte(byte((f + r) % cifarClasses))
			for i := range cifarImage {
				b.WriteByte(byte(100*(i/1024) + 10*f + r))
			}
		}
		files[name] = b.String()
	}
	return files
}

// packed returns an entry whose archive has the given contents, with the checksums of files in its tree.
func packed(name string, archive []byte, t *tree, files map[string]string) *entry {
	sum := sha256.Sum256(archive)
	t.sums = map[string]string{}
	for member, contents := range files {
		sum := sha256.Sum256([]byte(contents))
		t.sums[member] = hex.EncodeToString(sum[:])
	}
	return &entry{
		info: Info{Name: name, Kind: KindImages},
		files: []file{{
			name: name + ".tar.gz", size: int64(len(archive)), sum: Checksum(sha256Prefix + hex.EncodeToString(sum[:])), tree: t,
		}},
		normalisation: cifarEntry().normalisation,
	}
}

// tinyArchive packs files in another order, with other files between them.
func tinyArchive(t testing.TB, folder string, files map[string]string) []byte {
	var entries []tarFile
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(files))) {
		entries = append(entries, tarFile{name: folder + "/" + name, contents: files[name]})
	}
	entries = append(entries, tarFile{name: folder + "/readme.html", contents: "Have a nice day."})
	return tarball(t, entries...)
}

func tinyCIFAREntry(t testing.TB) *entry {
	files := tinyCIFARFiles()
	e := packed("tiny-cifar", tinyArchive(t, "cifar-10-batches-bin", files), tinyCIFAR.tree(), files)
	e.images = tinyCIFAR.images
	return e
}

func checkTinyCIFAR(t *testing.T, raw *RawSet, err error, edition State) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if raw.Edition != edition {
		t.Errorf("edition %q, want %q", raw.Edition, edition)
	}
	if want := []byte{0, 1, 1, 2, 2, 3, 3, 4, 4, 5}; !bytes.Equal(raw.Train.Labels, want) {
		t.Errorf("training labels %v, want %v", raw.Train.Labels, want)
	}
	if want := []byte{5, 6}; !bytes.Equal(raw.Test.Labels, want) {
		t.Errorf("test labels %v, want %v", raw.Test.Labels, want)
	}
	if got, want := raw.Train.Pixels[7*cifarImage+1023:][:2], []byte{31, 131}; !bytes.Equal(got, want) {
		t.Errorf("pixels %v at the border of red and green of image 7, want %v", got, want)
	}
	if got := raw.Test.Pixels[2*cifarImage-1]; got != 251 {
		t.Errorf("last pixel %d, want 251", got)
	}
	set := raw.set()
	// Green of image 7, by the constants for CIFAR-100.
	if got, want := set.Train.Samples[7*cifarImage+1024], (131.0/255-0.4865)/0.2564; math.Abs(float64(got)-want) > 1e-6 {
		t.Errorf("sample %v, want %v", got, want)
	}
}

func TestCIFARArchiveAndFolder(t *testing.T) {
	e, o := tinyCIFAREntry(t), options(t)
	o.Dir = t.TempDir()
	folder := filepath.Join(o.Dir, "tiny-cifar")
	archive := filepath.Join(folder, "tiny-cifar.tar.gz")
	writeTree(t, folder, map[string]string{"tiny-cifar.tar.gz": string(tinyArchive(t, "cifar-10-batches-bin", tinyCIFARFiles()))})

	// check checks the set and returns its images, removing them from it.
	check := func(raw *RawSet, err error, edition State) (images [2]Images) {
		if raw != nil {
			images = [2]Images{raw.Train, raw.Test}
		}
		checkTinyCIFAR(t, raw, err, edition)
		return images
	}
	raw, err := e.openRaw(t.Context(), o)
	archived := check(raw, err, OK)

	if err := os.Remove(archive); err != nil {
		t.Fatal(err)
	}
	unpacked := filepath.Join(folder, "cifar-10-batches-bin")
	writeTree(t, unpacked, tinyCIFARFiles())
	raw, err = e.openRaw(t.Context(), o)
	if unpacked := check(raw, err, OK); !reflect.DeepEqual(unpacked, archived) {
		t.Error("the archive and the folder have different images")
	}
	checkState(t, e, o, OK, "")

	// Another edition is accepted, and never reported as the official one.
	files := tinyCIFARFiles()
	files["data_batch_2.bin"] = files["data_batch_2.bin"][:9] + "\x00" + files["data_batch_2.bin"][10:]
	writeTree(t, unpacked, files)
	raw, err = e.openRaw(t.Context(), o)
	if other := check(raw, err, Unofficial); reflect.DeepEqual(other, archived) {
		t.Error("another edition has the same images")
	}
	checkState(t, e, o, Unofficial, "not the official edition: data_batch_2.bin")

	// A wrong format is refused.
	writeTree(t, unpacked, map[string]string{"data_batch_2.bin": files["data_batch_2.bin"][:2*cifarRecord-1]})
	_, err = e.openRaw(t.Context(), o)
	checkError(t, err, ErrInvalid, "tiny-cifar: "+unpacked+": data_batch_2.bin: ends in record 1 of 2")
	checkState(t, e, o, Corrupt, "data_batch_2.bin: ends in record 1 of 2")

	if err := os.Remove(filepath.Join(unpacked, "data_batch_2.bin")); err != nil {
		t.Fatal(err)
	}
	_, err = e.openRaw(t.Context(), o)
	checkError(t, err, ErrInvalid, "tiny-cifar: "+unpacked+": data_batch_2.bin is missing")
	store, err := e.store(o)
	if err != nil {
		t.Fatal(err)
	}
	if where, _, err := store.where(); where != "" || err != nil {
		t.Errorf("all files are in %q, error %v", where, err)
	}

	// An archive is preferred to the folder, and a wrong archive is an error.
	writeTree(t, folder, map[string]string{"tiny-cifar.tar.gz": "cut"})
	_, err = e.openRaw(t.Context(), o)
	checkError(t, err, ErrInvalid, archive+": SHA-256 is ")
}

// checkState checks the only status of e, and that where agrees with it.
func checkState(t *testing.T, e *entry, o Options, state State, note string) {
	t.Helper()
	files, err := e.verifyFiles(t.Context(), o)
	if err != nil || len(files) != 1 || files[0].State != state || !strings.Contains(files[0].Note, note) {
		t.Errorf("status %+v, error %v, want %s with %q", files, err, state, note)
	}
	store, err := e.store(o)
	if err != nil {
		t.Fatal(err)
	}
	_, edition, err := store.where()
	if state == Corrupt {
		state = "" // the folder isn't taken for the set
	}
	if err != nil || edition != state {
		t.Errorf("edition %q, error %v, want %s", edition, err, state)
	}
}

func TestReadCIFARRefuses(t *testing.T) {
	record := strings.Repeat("\x01", cifarRecord)
	for _, c := range []struct{ name, file, want string }{
		{"empty", "", "ends in record 0 of 2"},
		{"label only", "\x01", "ends in record 0 of 2"},
		{"one record", record, "ends in record 1 of 2"},
		{"cut off", record + record[1:], "ends in record 1 of 2"},
		{"too long", record + record + "\x01", "more than 2 records"},
		{"label", record + "\x0a" + record[1:], "record 1: its class is 10, want 0 to 9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			images := newCIFARImages(2)
			checkError(t, images.readCIFAR(strings.NewReader(c.file), 0, 2), ErrInvalid, c.want)
		})
	}
}

func FuzzReadCIFAR(f *testing.F) {
	f.Add([]byte("\x01"), uint16(cifarRecord))
	f.Fuzz(func(t *testing.T, start []byte, zeros uint16) {
		file := append(start, make([]byte, zeros)...)
		images := newCIFARImages(3)
		err := images.readCIFAR(bytes.NewReader(file), 1, 2)
		checkKind(t, err)
		if err == nil && (len(file) != 2*cifarRecord || !bytes.Equal(images.Pixels[cifarImage:2*cifarImage], file[1:cifarRecord]) ||
			images.Labels[2] != file[cifarRecord] || images.Labels[2] >= cifarClasses) {
			t.Errorf("%d bytes became images that aren't theirs", len(file))
		}
	})
}

func TestOpenRawRefuses(t *testing.T) {
	if _, err := OpenRaw(t.Context(), "imdb", options(t)); err == nil || err.Error() != "imdb: not a data set of images" {
		t.Errorf("error %v", err)
	}
	var unknown *UnknownError
	if _, err := OpenRaw(t.Context(), "resnet20", options(t)); !errors.As(err, &unknown) {
		t.Errorf("error %v", err)
	}
}

func TestNormalisePanics(t *testing.T) {
	images := newCIFARImages(2)
	for _, c := range []struct{ values, first int }{{cifarImage, 2}, {2 * cifarImage, 1}, {cifarImage - 1, 0}, {cifarImage, -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d values from image %d on: no panic", c.values, c.first)
				}
			}()
			images.Normalise(make([]float32, c.values), c.first, Normalisation{})
		}()
	}
}

// The set's own page and tutorials show the first labels: frog, truck, truck, deer; cat, ship, ship, airplane.
func TestPublishedCIFAR(t *testing.T) {
	long.SkipRace(t, "it runs nothing side by side")
	skipWithout(t, "cifar-10")
	raw, err := OpenRaw(t.Context(), "cifar-10", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if raw.Train.N != 50_000 || raw.Test.N != 10_000 || !slices.Equal(raw.Train.Shape, []int{3, 32, 32}) {
		t.Errorf("%d training and %d test images of shape %v", raw.Train.N, raw.Test.N, raw.Train.Shape)
	}
	if got, want := raw.Train.Labels[:8], []byte{6, 9, 9, 4, 1, 1, 2, 7}; !slices.Equal(got, want) {
		t.Errorf("first training labels %v, want %v", got, want)
	}
	if got, want := raw.Test.Labels[:8], []byte{3, 8, 8, 0, 6, 6, 1, 6}; !slices.Equal(got, want) {
		t.Errorf("first test labels %v, want %v", got, want)
	}
	for name, images := range map[string]*Images{"training": &raw.Train, "test": &raw.Test} {
		var counts [10]int
		for _, l := range images.Labels {
			counts[l]++
		}
		for class, n := range counts {
			if n != images.N/10 {
				t.Errorf("%s: class %d has %d images, want %d", name, class, n, images.N/10)
			}
		}
	}
	// The first pixels of the first training image, as in PyTorch: red of row 0.
	if got, want := raw.Train.Pixels[:4], []byte{59, 43, 50, 68}; !slices.Equal(got, want) {
		t.Errorf("first pixels %v, want %v", got, want)
	}
}

// Normalise normalises the images of a block channel by channel.
func TestNormaliseInBlocks(t *testing.T) {
	images := newCIFARImages(4)
	for i := range images.Pixels {
		images.Pixels[i] = byte(i/cifarImage*50 + i%cifarImage/1024*10 + i%7)
	}
	n := Normalisation{Mean: []float64{0.1, 0.2, 0.3}, Std: []float64{0.5, 0.25, 2}}
	dst := make([]float32, 2*cifarImage)
	images.Normalise(dst, 1, n)
	for i, got := range dst {
		c := i % cifarImage / 1024
		if want := (float64(images.Pixels[cifarImage+i])/255 - n.Mean[c]) / n.Std[c]; math.Abs(float64(got)-want) > 1e-6 {
			t.Fatalf("value %d is %v, want %v", i, got, want)
		}
	}
}
