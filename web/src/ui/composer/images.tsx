import { useRef } from "react";
import type { SentImage } from "../../client/contract.ts";

export interface NamedImage extends SentImage {
  name: string;
}

const TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** Reads the images among some files. */
export async function imagesIn(files: Iterable<File> | undefined): Promise<NamedImage[]> {
  const images = [...(files ?? [])].filter(({ type }) => TYPES.includes(type));
  return Promise.all(
    images.map(async (file) => ({ name: file.name, type: file.type, data: await base64(file) })),
  );
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    // Without the data URL's prefix, which ends with a comma.
    reader.addEventListener("load", () => resolve((reader.result as string).replace(/^[^,]*,/, "")));
    reader.addEventListener("error", () => reject(new Error(`${file.name} cannot be read.`)));
    reader.readAsDataURL(file);
  });
}

/** The images attached to the next task, each with a button to remove it. */
export function Images({
  images,
  onRemove,
}: {
  images: readonly NamedImage[];
  onRemove: (image: NamedImage) => void;
}) {
  if (images.length === 0) return null;
  return (
    <ul className="images" aria-label="Images">
      {images.map((image, at) => (
        <li key={`${at} ${image.name}`}>
          <img alt="" src={`data:${image.type};base64,${image.data}`} />
          <span>{image.name}</span>
          <button type="button" className="quiet" onClick={() => onRemove(image)}>
            Remove<span className="hidden"> {image.name}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** A button to choose images from disk. The composer also takes pasted and dropped ones. */
export function ImageButton({ onImages }: { onImages: (images: NamedImage[]) => void }) {
  const field = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={field}
        type="file"
        hidden
        multiple
        accept={TYPES.join(",")}
        aria-label="Images to send"
        onChange={({ currentTarget }) => {
          void imagesIn(currentTarget.files ?? []).then(onImages);
          currentTarget.value = "";
        }}
      />
      <button type="button" className="quiet" onClick={() => field.current?.click()}>
        Image
      </button>
    </>
  );
}
