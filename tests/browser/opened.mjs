// Pages of retime in a browser.

// A page that fails the test on any error, and on any request but for what it is opened by.
export async function opened(chromium, context, url, size = {width: 1280, height: 900}) {
  const page = await chromium.newPage({viewport: size});
  context.after(() => page.close());
  const amiss = [];
  page.on('console', (message) => {
    // What Chromium says to those who count pixels, as the test does and the page does not.
    const ours = message.text().includes('willReadFrequently');
    if (['error', 'warning'].includes(message.type()) && !ours) amiss.push(message.text());
  });
  page.on('pageerror', (error) => amiss.push(String(error)));
  page.on('request', (request) => request.url().startsWith(url) || amiss.push(request.url()));
  page.amiss = amiss;
  await page.goto(url);
  await page.waitForSelector('html[data-ready]');
  return page;
}
