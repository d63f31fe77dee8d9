"""Models as the text files of LIBSVM, LIBLINEAR and SVMlight."""
