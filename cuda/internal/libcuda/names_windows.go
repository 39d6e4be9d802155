package libcuda

// systemNames are the names of the driver's library.
var systemNames = []string{"nvcuda.dll"}
