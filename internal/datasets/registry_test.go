package datasets

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	sets := []string{"glyphs", "mnist", "fashion-mnist", "cifar-10", "imdb"}
	if got := Names(); !slices.Equal(got, sets) {
		t.Errorf("Names() = %v, want %v", got, sets)
	}
	if got, want := AllNames(), append(sets, "resnet20"); !slices.Equal(got, want) {
		t.Errorf("AllNames() = %v, want %v", got, want)
	}
	_, err := Open(t.Context(), "resnet20", Options{})
	var unknown *UnknownError
	if !errors.As(err, &unknown) || !slices.Equal(unknown.Known, sets) {
		t.Errorf("a name of weights: %v, want an error that lists %v", err, sets)
	}
}

func TestUnknownName(t *testing.T) {
	for _, c := range []struct{ name, nearest string }{
		{"mnits", "mnist"},
		{"MNIST", "mnist"},
		{"glyph", "glyphs"},
		{"fashion_mnist", "fashion-mnist"},
		{"imagenet", ""},
		{"", ""},
	} {
		_, err := Open(t.Context(), c.name, Options{})
		var unknown *UnknownError
		if !errors.As(err, &unknown) || unknown.Name != c.name || unknown.Nearest != c.nearest {
			t.Errorf("%q: error %v, want the nearest name %q", c.name, err, c.nearest)
		}
	}
	_, err := Verify(t.Context(), "mnits", Options{})
	want := `unknown data set "mnits" (known: glyphs, mnist, fashion-mnist, cifar-10, imdb, resnet20); did you mean "mnist"?`
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if err := Fetch(t.Context(), "mnits", Options{}); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// blobFolder returns a data folder with the given blob file.
func blobFolder(t *testing.T, contents []byte) (dir, path string) {
	dir = t.TempDir()
	path = filepath.Join(dir, "blobs", "blob.gz")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, contents, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, path
}

func TestDataFolder(t *testing.T) {
	m, o := newMirror(t), options(t)
	dir, path := blobFolder(t, blob)
	t.Setenv(DirVariable, dir)
	if err := blobEntry(m.url).fetch(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	m.requests(t)
	files, err := blobEntry().verifyFiles(t.Context(), o)
	if err != nil || len(files) != 1 || files[0].State != OK || files[0].Path != path {
		t.Errorf("status %+v, error %v", files, err)
	}

	// Options override the environment.
	wrong := blob[:len(blob)-1]
	o.Dir, path = blobFolder(t, wrong)
	err = blobEntry(m.url).fetch(t.Context(), o)
	var checksum *ChecksumError
	if !errors.As(err, &checksum) {
		t.Fatalf("error %v, want a ChecksumError", err)
	}
	checkError(t, err, ErrInvalid, "blobs: "+path+": SHA-256 is "+checksum.Sum.hex()+", want "+checksum.Want.hex()+
		" and its size 299999 bytes instead of 300000; the file is damaged or another edition, replace it")
	m.requests(t) // no download hides a wrong file in the person's own folder
	files, err = blobEntry().verifyFiles(t.Context(), o)
	if err != nil || len(files) != 1 || files[0].State != Corrupt || files[0].Path != path || files[0].Sum != checksum.Sum {
		t.Errorf("status %+v, error %v", files, err)
	}
}

func TestVerifyMissing(t *testing.T) {
	files, err := blobEntry().verifyFiles(t.Context(), options(t))
	if err != nil || len(files) != 1 || files[0].State != Missing || files[0].Path != "" || files[0].Sum != "" {
		t.Errorf("status %+v, error %v", files, err)
	}
}

func TestDataFolderMissing(t *testing.T) {
	o := options(t)
	o.Dir = filepath.Join(t.TempDir(), "typo")
	_, err := Open(t.Context(), "mnist", o)
	checkError(t, err, os.ErrNotExist, "set DPTRAIN_DATA to a folder that exists, or unset it")
	if err := os.WriteFile(o.Dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), "mnist", o)
	checkError(t, err, ErrInvalid, "typo is not a folder; set DPTRAIN_DATA to the folder that has one for each data set, or unset it")
	if _, err := Open(t.Context(), "glyphs", o); err != nil {
		t.Errorf("a set that is built in: %v", err)
	}
}

func TestList(t *testing.T) {
	o := options(t)
	infos, err := List(o)
	if err != nil {
		t.Fatal(err)
	}
	for i, info := range infos {
		where := ""
		if info.Name == "glyphs" {
			where = "built in"
		}
		if info.Name != AllNames()[i] || info.Where != where || info.Description == "" || info.Licence == "" || info.Source == "" || info.Citation == "" {
			t.Errorf("entry %d: %+v", i, info)
		}
	}
	if got, want := infos[1].Bytes, int64(9_912_422+28_881+1_648_877+4_542); got != want {
		t.Errorf("mnist has %d bytes, want %d", got, want)
	}
}
