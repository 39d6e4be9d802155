package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/experiment/features"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/datasets"
	"github.com/dptrain/dptrain/internal/given"
	"github.com/dptrain/dptrain/train"
)

// ReadFiles reads the samples of files for the model. A model of own files takes one table, or if it is of texts a text
// file with a text in each line: see [Released.Read]. A model of a named data set takes images or texts, and prepares
// them as it does the set:
//
//	images   PNG and JPEG files of the set's size, of one image each; or a file in MNIST's format (idx, packed by gzip
//	         or not), for [table.Testing] followed by the file of the labels
//	texts    a text file (.txt) with a text in each line; or a table with a column "text", and for [table.Testing] a
//	         column "label" with names of classes or their numbers
//
// The returned names are the samples' files, if every file has one sample, and otherwise nil.
func (r *Released) ReadFiles(ctx context.Context, files []string, use table.Use, f Follower) (rows Rows, names []string, err error) {
	switch {
	case len(files) == 0:
		return Rows{}, nil, usagef("no file to read")
	case len(r.Input) > 0:
		if len(files) > 1 {
			return Rows{}, nil, usagef("%d files: a model of own files takes one table at a time", len(files))
		}
		rows, err = r.Read(ctx, files[0], use, f)
		return rows, nil, err
	}
	if r.KeepGoing {
		return Rows{}, nil, usagef("the model is of data set %s, whose files are read as a whole; leave --keep-going out", r.Dataset)
	}
	info, err := datasets.Describe(r.Dataset)
	if err != nil {
		return Rows{}, nil, err
	}
	label := table.Label{Name: "class", Task: table.Classification, Classes: r.classNames()}
	var columns []train.Column
	var labels []int32
	var n int
	if info.Kind == datasets.KindTexts {
		n, columns, labels, err = r.readTexts(ctx, files, use, f)
	} else {
		n, columns, labels, names, err = r.readImages(ctx, info, files, use)
	}
	if err != nil {
		return Rows{}, nil, err
	}
	rows.Label = label
	if use == table.Predicting {
		rows.Data, err = train.NewTypedData(n, append(columns, train.Column{Floats: make([]float32, n*r.Outputs)})...)
		return rows, names, err
	}
	c, err := train.ClassificationOf(given.Away(columns...), labels, r.Outputs)
	if err != nil {
		return Rows{}, nil, err
	}
	rows.Labels, rows.Data = c, c.Data
	return rows, names, nil
}

func (r *Released) classNames() []string {
	names := make([]string, r.Outputs)
	for i := range names {
		names[i] = r.Class(i)
	}
	return names
}

// readImages reads images, and for tests their labels, as samples.
func (r *Released) readImages(ctx context.Context, info datasets.Info, files []string, use table.Use) (n int, columns []train.Column, labels []int32, names []string, err error) {
	im := datasets.Images{Shape: info.SampleShape}
	pictures := slices.ContainsFunc(files, func(path string) bool {
		return slices.Contains([]string{".png", ".jpg", ".jpeg"}, strings.ToLower(filepath.Ext(path)))
	})
	switch {
	case pictures && use != table.Predicting:
		return 0, nil, nil, nil, usagef("%s: images without labels can be predicted, not evaluated; give a file of images and one of labels in MNIST's format", files[0])
	case pictures:
		names = files
		for _, path := range files {
			pixels, err := readFile(path, func(file []byte) ([]byte, error) { return datasets.DecodeImage(file, im.Shape) })
			if err != nil {
				return 0, nil, nil, nil, err
			}
			im.Pixels = append(im.Pixels, pixels...)
		}
		im.N = len(files)
	default:
		if labels, err = r.readIDX(&im, files, use); err != nil {
			return 0, nil, nil, nil, err
		}
	}
	normal, err := datasets.NormalisationOf(r.Dataset)
	if err != nil {
		return 0, nil, nil, nil, err
	}
	values, err := r.samplesOf(ctx, &im, normal)
	return im.N, []train.Column{{Floats: values}}, labels, names, err
}

// readIDX reads a file of images and, for tests, the file of their labels.
func (r *Released) readIDX(im *datasets.Images, files []string, use table.Use) (labels []int32, err error) {
	if slices.ContainsFunc(table.Formats(), func(ending string) bool { return strings.HasSuffix(strings.ToLower(files[0]), ending) }) {
		return nil, usagef("%s: models of data set %s take images, not tables: PNG or JPEG files, or a file in MNIST's format", files[0], r.Dataset)
	}
	want, what := 1, "a file of images"
	if use != table.Predicting {
		want, what = 2, "a file of images and one of their labels"
	}
	switch {
	case len(im.Shape) != 3 || im.Shape[0] != 1:
		return nil, usagef("%s: models of data set %s take PNG and JPEG images of %v channels, rows and columns", files[0], r.Dataset, im.Shape)
	case len(files) != want:
		return nil, usagef("%d files: want %s, in MNIST's format, or PNG and JPEG images to predict", len(files), what)
	}
	read := func(path string, axes int) (lengths []int, values []byte, err error) {
		values, err = readFile(path, func(file []byte) (v []byte, err error) {
			lengths, v, err = datasets.DecodeIDX(file, axes)
			return v, err
		})
		return lengths, values, err
	}
	lengths, pixels, err := read(files[0], 3)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(lengths[1:], im.Shape[1:]) {
		return nil, inputf("%s: images of %d×%d pixels; want %d×%d, resize them", files[0], lengths[2], lengths[1], im.Shape[2], im.Shape[1])
	}
	im.N, im.Pixels = lengths[0], pixels
	if use == table.Predicting {
		return nil, nil
	}
	lengths, values, err := read(files[1], 1)
	if err != nil {
		return nil, err
	}
	if lengths[0] != im.N {
		return nil, inputf("%s: %d labels for the %d images of %s", files[1], lengths[0], im.N, files[0])
	}
	for i, v := range values {
		if int(v) >= r.Outputs {
			return nil, inputf("%s: label %d is %d, want 0 to %d", files[1], i, v, r.Outputs-1)
		}
		labels = append(labels, int32(v))
	}
	return labels, nil
}

// readFile reads a file and decodes it. Errors name it.
func readFile[T any](path string, decode func(file []byte) (T, error)) (out T, err error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return out, err
	}
	if out, err = decode(file); err != nil {
		return out, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

// samplesOf returns images as samples: normalised, or their features. It keeps no features on the disk: unlike the data
// set's, they may be private.
func (r *Released) samplesOf(ctx context.Context, im *datasets.Images, n datasets.Normalisation) (values []float32, err error) {
	if r.Features == "" {
		values = make([]float32, im.N*im.Size())
		im.Normalise(values, 0, n)
		return values, nil
	}
	x, err := extractorOf(ctx, r.Features, r.engine, datasets.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	return x.Compute(ctx, features.Images{N: im.N, Read: func(dst []float32, first int) { im.Normalise(dst, first, n) }}, nil)
}

// readTexts reads texts, and for tests their labels, as tokens and their weights.
func (r *Released) readTexts(ctx context.Context, files []string, use table.Use, f Follower) (n int, columns []train.Column, labels []int32, err error) {
	if len(files) > 1 {
		return 0, nil, nil, usagef("%d files: texts are read from one at a time", len(files))
	}
	texts, labels, err := r.textsIn(files[0], use)
	if err != nil {
		return 0, nil, nil, err
	}
	if len(texts) == 0 {
		return 0, nil, nil, inputf("%s: no texts", files[0])
	}
	if len(r.Shape) != 1 {
		return 0, nil, nil, inputf("the model takes samples of shape %v, which are no texts", r.Shape)
	}
	split, err := datasets.Tokenise(ctx, texts, datasets.Options{TextLength: r.Shape[0], Progress: Downloads(f)})
	if err != nil {
		return 0, nil, nil, err
	}
	if split.Vocabulary != r.Vocabulary {
		return 0, nil, nil, otherVocabulary(split.Vocabulary, r.Vocabulary)
	}
	return len(texts), []train.Column{{Ints: split.Tokens}, {Floats: split.Weights}}, labels, nil
}

// textsIn reads texts and, for tests, their labels.
func (r *Released) textsIn(path string, use table.Use) (texts [][]byte, labels []int32, err error) {
	if strings.EqualFold(filepath.Ext(path), ".txt") {
		if use != table.Predicting {
			return nil, nil, usagef("%s: texts without labels can be predicted, not evaluated; give a CSV file with the columns text and label", path)
		}
		texts, err = lines(path)
		return texts, nil, err
	}
	cells, err := Cells(path, "text", false)
	if err != nil {
		return nil, nil, err
	}
	for _, text := range cells {
		texts = append(texts, []byte(text))
	}
	if use == table.Predicting {
		return texts, nil, nil
	}
	if cells, err = Cells(path, "label", false); err != nil {
		return nil, nil, err
	}
	names := r.classNames()
	for i, text := range cells {
		class := slices.Index(names, text)
		if k, err := strconv.Atoi(text); class < 0 && err == nil && k >= 0 && k < r.Outputs {
			class = k
		}
		if class < 0 {
			return nil, nil, inputf("%s: row %d: its label is no class; the classes are %s, or 0 to %d", path, i+1, strings.Join(names, ", "), r.Outputs-1)
		}
		labels = append(labels, int32(class))
	}
	return texts, labels, nil
}
