// Where the billing portal of the local provider leads: there is nothing to pay, and the page says so.

export const localBillingPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Billing</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem;color:#111;background:#fff}</style>
</head>
<body>
<main>
<h1>Nothing is charged here</h1>
<p>This server bills nobody. An admin's change of plan or add-ons applies at once, and there are no invoices.</p>
</main>
</body>
</html>
`;
