"""What the paper says about its method, computed: the model of section 5, and the illustrations."""
