package datasets

// mnistEntry returns MNIST. The checksums are of the official files, whose MD5 sums torchvision and others list too.
func mnistEntry() *entry {
	return &entry{
		info: Info{
			Name:        "mnist",
			Kind:        KindImages,
			Description: "handwritten digits, 28x28 grey",
			Train:       60_000, Test: 10_000, SampleShape: []int{1, 28, 28}, Classes: 10,
			Source:   "http://yann.lecun.com/exdb/mnist/",
			Licence:  "CC BY-SA 3.0, as usually stated",
			Citation: "LeCun, Bottou, Bengio and Haffner: Gradient-based learning applied to document recognition, 1998",
		},
		files: []file{
			{name: trainImages + ".gz", size: 9_912_422, sum: sha256Prefix + "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"},
			{name: trainLabels + ".gz", size: 28_881, sum: sha256Prefix + "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"},
			{name: testImages + ".gz", size: 1_648_877, sum: sha256Prefix + "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"},
			{name: testLabels + ".gz", size: 4_542, sum: sha256Prefix + "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"},
		},
		mirrors: []string{
			"https://ossci-datasets.s3.amazonaws.com/mnist/",
			"https://storage.googleapis.com/cvdf-datasets/mnist/",
		},
		images:        idxImages,
		normalisation: Normalisation{[]float64{0.1307}, []float64{0.3081}}, // as in Opacus' MNIST example
	}
}

// fashionMNISTEntry returns Fashion-MNIST, which has MNIST's format, file names and sizes.
func fashionMNISTEntry() *entry {
	return &entry{
		info: Info{
			Name:        "fashion-mnist",
			Kind:        KindImages,
			Description: "articles of clothing, 28x28 grey",
			Train:       60_000, Test: 10_000, SampleShape: []int{1, 28, 28}, Classes: 10,
			ClassNames: []string{"T-shirt/top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"},
			Source:     "https://github.com/zalandoresearch/fashion-mnist",
			Licence:    "MIT (Zalando SE)",
			Citation:   "Xiao, Rasul and Vollgraf: Fashion-MNIST: a novel image dataset for benchmarking machine learning algorithms, 2017",
		},
		files: []file{
			{name: trainImages + ".gz", size: 26_421_880, sum: sha256Prefix + "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"},
			{name: trainLabels + ".gz", size: 29_515, sum: sha256Prefix + "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"},
			{name: testImages + ".gz", size: 4_422_102, sum: sha256Prefix + "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"},
			{name: testLabels + ".gz", size: 5_148, sum: sha256Prefix + "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"},
		},
		mirrors: []string{
			// The first is the authors' own; it has no TLS, but files are checked by their checksums.
			"http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
			"https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
		},
		images:        idxImages,
		normalisation: Normalisation{[]float64{0.2860}, []float64{0.3530}}, // the values in common use
	}
}
