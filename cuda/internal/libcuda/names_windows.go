package libcuda

// systemNames are what the driver's library is called.
var systemNames = []string{"nvcuda.dll"}
