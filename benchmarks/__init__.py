"""Races against LIBSVM (scikit-learn) and oneDAL (scikit-learn-intelex)."""
