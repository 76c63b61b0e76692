"""What the paper says about its method, computed: its impurity proxies, and its illustrations."""
