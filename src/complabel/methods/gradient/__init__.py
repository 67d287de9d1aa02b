"""Methods trained by gradient descent on a loss of the complementary labels."""
