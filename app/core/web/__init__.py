"""What all pages share: templates, forms, cookies, security headers, Markdown, SVG."""
